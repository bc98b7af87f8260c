// Segments in /dev/shm that another container has named by the same numbers.
#include "guest/host/left_segments.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "unit/source/temp_folder.h"

namespace loaderscope::guest {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFirst = "pid:[4026531836]";
constexpr const char* kOther = "pid:[4026532178]";

class LeftSegmentsTest : public testing::Test {
 protected:
  LeftSegmentsTest() {
    fs::create_directories(root_ / "proc/self/ns");
    fs::create_directories(root_ / "dev/shm");
  }
  LeftSegments start_segments(const char* pid_namespace) {
    fs::create_symlink(pid_namespace, root_ / "proc/self/ns/pid");
    return LeftSegments(root_);
  }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void add_segment(const std::string& name) { write("dev/shm/" + name, "tensor"); }
  // Maps the segment `name`. `inode` 0 stands for the inode of the segment.
  void add_mapping(pid_t process, const std::string& name, ino_t inode = 0) {
    struct stat state {};
    ASSERT_EQ(::stat((root_ / "dev/shm" / name).c_str(), &state), 0);
    write("proc/" + std::to_string(process) + "/maps",
          "7f12a000-7f12b000 rw-s 00000000 00:1b " +
              std::to_string(inode != 0 ? inode : state.st_ino) + "    /dev/shm/" + name + "\n");
  }
  bool has(const std::string& name) const { return fs::exists(root_ / "dev/shm" / name); }

  source::TempFolder folder_;
  fs::path root_ = folder_ / "";
};

TEST_F(LeftSegmentsTest, RemovesThoseOfTheJobByTheirNumbers) {
  const LeftSegments segments = start_segments(kFirst);
  for (const char* name : {"torch_17_5_0", "torch_170_5_0", "sem.mp-17"}) add_segment(name);
  segments.remove_segments({17});
  EXPECT_FALSE(has("torch_17_5_0"));
  EXPECT_TRUE(has("torch_170_5_0"));
  EXPECT_TRUE(has("sem.mp-17"));
}

TEST_F(LeftSegmentsTest, KeepsThoseOfAContainerThatUsesTheNumber) {
  const LeftSegments segments = start_segments(kFirst);
  add_segment("torch_17_5_0");
  add_segment("torch_18_5_0");
  write("proc/4711/status", "Name:\tpython\nPid:\t4711\nNSpid:\t4711\t17\n");
  write("proc/19/status", "Name:\tpython\nPid:\t19\nNSpid:\t19\n");
  segments.remove_segments({17, 18});
  EXPECT_TRUE(has("torch_17_5_0"));
  EXPECT_FALSE(has("torch_18_5_0"));
}

// The processes of another container cannot be seen there.
TEST_F(LeftSegmentsTest, RemovesWithinAContainerOnlyWhatTheJobHadMapped) {
  LeftSegments segments = start_segments(kOther);
  for (const char* name : {"torch_17_5_0", "torch_17_6_1", "torch_17_7_2"}) add_segment(name);
  add_mapping(17, "torch_17_5_0");
  add_mapping(18, "torch_17_6_1", 1);  // an earlier one of that name
  segments.look({{17, false}, {18, true}});
  segments.remove_segments({17, 18});
  EXPECT_FALSE(has("torch_17_5_0"));
  EXPECT_TRUE(has("torch_17_6_1"));
  EXPECT_TRUE(has("torch_17_7_2"));
}

// A long job maps and unlinks a segment per batch.
TEST_F(LeftSegmentsTest, NotesOnlySegmentsThatAreThere) {
  LeftSegments segments = start_segments(kOther);
  for (const char* name : {"torch_17_5_0", "torch_17_6_1"}) add_segment(name);
  add_mapping(17, "torch_17_5_0");
  write("proc/18/maps",
        "7f12a000-7f12b000 rw-s 00000000 00:1b 42    /dev/shm/torch_17_4_9 (deleted)\n");
  segments.look({{17, false}, {18, true}});
  EXPECT_EQ(segments.noted(), 1U);
  fs::remove(root_ / "dev/shm/torch_17_5_0");
  add_mapping(17, "torch_17_6_1");
  segments.look({{17, false}}, true);
  EXPECT_EQ(segments.noted(), 1U);
  segments.remove_segments({17});
  EXPECT_FALSE(has("torch_17_6_1"));
}

TEST_F(LeftSegmentsTest, ReadsMappingsOnlyWhenDueOrForced) {
  LeftSegments segments = start_segments(kOther);
  for (const char* name : {"torch_17_5_0", "torch_17_6_1"}) add_segment(name);
  segments.look({{17, false}});
  add_mapping(17, "torch_17_5_0");
  segments.look({{17, false}});
  EXPECT_EQ(segments.noted(), 0U);
  segments.look({{17, false}}, true);
  EXPECT_EQ(segments.noted(), 1U);
}

TEST_F(LeftSegmentsTest, KeepsWhatIsOlderThanTheJob) {
  add_segment("torch_17_5_0");
  fs::last_write_time(root_ / "dev/shm/torch_17_5_0",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  const LeftSegments segments = start_segments(kFirst);
  segments.remove_segments({17});
  EXPECT_TRUE(has("torch_17_5_0"));
}

}  // namespace
}  // namespace loaderscope::guest
