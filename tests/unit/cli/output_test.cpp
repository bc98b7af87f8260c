#include "cli/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Output : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  std::string text(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_.path()), {}); }

 private:
  source::TempFolder folder_;
};

TEST_F(Output, WritesWholeText) {
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

TEST_F(Output, WritesDevicesWithoutReplacingThem) {
  write_output("/dev/null", [](std::ostream& out) { out << "x"; });
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_output("/dev/full", [](std::ostream& out) { out << "x"; }), RunError);
}

TEST_F(Output, FindsImpossiblePlacesBeforehand) {
  EXPECT_THROW(check_output(path("missing/a")), RunError);
  EXPECT_THROW(check_output(path("")), RunError);
  write_output(path("a"), [](std::ostream&) {});
  EXPECT_THROW(check_output(path("a/b")), RunError);
  EXPECT_NO_THROW(check_output(path("b")));
  EXPECT_NO_THROW(check_output("-"));
  EXPECT_NO_THROW(check_output("/dev/null"));
  EXPECT_EQ(files(), 1);
}

TEST_F(Output, ReplacesAResult) {
  for (const char* text : {"{\n  \"schema\": \"loaderscope.run/1\"",
                           "{\"config\": {}, \"schema\":\"loaderscope.tune/1\"",
                           "rank,step,epoch\n", "**bound by decode**\n\n- loaderscope 0.1\n", ""}) {
    write_output(path("a"), [&](std::ostream& out) { out << text; });
    EXPECT_NO_THROW(check_output(path("a"))) << text;
  }
}

TEST_F(Output, ReplacesAnotherFileOnlyByForce) {
  for (const char* text : {"print('train')\n", "{\"name\": \"package\"}",
                           "\x7f"
                           "ELF",
                           "x"}) {
    write_output(path("a"), [&](std::ostream& out) { out << text; });
    EXPECT_THAT([&] { check_output(path("a")); },
                ThrowsMessage<RunError>(HasSubstr("is no result of loaderscope")))
        << text;
    EXPECT_NO_THROW(check_output(path("a"), {true, {}}));
  }
}

TEST_F(Output, RefusesToReplaceItsInputs) {
  write_output(path("r"), [](std::ostream& out) { out << "{\"schema\": \"loaderscope.run/1\"}"; });
  fs::create_hard_link(path("r"), path("other"));
  EXPECT_NO_THROW(check_output(path("other"), {false, {path("missing")}}));
  EXPECT_THAT(
      [&] {
        check_output(path("other"), {true, {path("r")}});
      },
      ThrowsMessage<RunError>(HasSubstr("is what the result would be made from")));
  EXPECT_THAT(
      [&] {
        check_output("/proc/self/exe", {true, {}});
      },
      ThrowsMessage<RunError>(HasSubstr("is this program itself")));
}

TEST_F(Output, RejectsPipesAndUnsuitableDevices) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(
      [&] {
        check_output(path("pipe"), {true, {}});
      },
      ThrowsMessage<RunError>(HasSubstr("is a pipe")));
  EXPECT_NO_THROW(check_output("/dev/full"));
  EXPECT_NO_THROW(check_output("/dev/stdout"));
  EXPECT_THROW(check_output("/dev/zero"), RunError);
}

}  // namespace
}  // namespace loaderscope
