#include "cli/output.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

class Output : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  std::string text(const std::string& name) const {
    std::ifstream in(path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }

 private:
  source::TempFolder folder_;
};

TEST_F(Output, IsWrittenWhole) {
  const std::string large(1'000'000, 'x');
  write_output(path("a"), [&](std::ostream& out) { out << large; });
  EXPECT_EQ(text("a"), large);
  EXPECT_EQ(files(), 1);
}

TEST_F(Output, LeavesTheOldFileWhenTheWriterFails) {
  write_output(path("a"), [](std::ostream& out) { out << "old"; });
  EXPECT_THROW(write_output(path("a"),
                            [](std::ostream& out) {
                              out << "new";
                              throw RunError("no");
                            }),
               RunError);
  EXPECT_EQ(text("a"), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(Output, FollowsALinkAndKeepsTheMode) {
  write_output(path("a"), [](std::ostream& out) { out << "old"; });
  ::chmod(path("a").c_str(), 0640);
  fs::create_symlink(path("a"), path("link"));
  write_output(path("link"), [](std::ostream& out) { out << "new"; });
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text("a"), "new");
  struct stat info {};
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(Output, DevicesAreWrittenAndNotReplaced) {
  write_output("/dev/null", [](std::ostream& out) { out << "x"; });
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_output("/dev/full", [](std::ostream& out) { out << "x"; }), RunError);
}

TEST_F(Output, ImpossiblePlacesAreFoundBeforehand) {
  EXPECT_THROW(check_output(path("missing/a")), RunError);
  EXPECT_THROW(check_output(path("")), RunError);
  write_output(path("a"), [](std::ostream&) {});
  EXPECT_THROW(check_output(path("a/b")), RunError);
  EXPECT_NO_THROW(check_output(path("b")));
  EXPECT_NO_THROW(check_output("-"));
  EXPECT_NO_THROW(check_output("/dev/null"));
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace loaderscope
