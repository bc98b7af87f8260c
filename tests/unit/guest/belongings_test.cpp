// The private folder of a run: gone with it, and where the run was killed, with the next one.
#include "engine/guest/belongings.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "unit/measure/with_tmpdir.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::guest {
namespace {

namespace fs = std::filesystem;

std::string name_in(const std::string& place) {
  const fs::directory_iterator found(place);
  return found == fs::directory_iterator() ? "" : found->path().filename().string();
}

TEST(PrivateFolder, GoesWithItsObject) {
  const source::TempFolder place;
  const WithTmpdir tmpdir(place.path());
  {
    const PrivateFolder folder;
    EXPECT_TRUE(fs::is_directory(folder.path()));
    EXPECT_EQ(fs::path(folder.path()).parent_path(), place.path());
  }
  EXPECT_TRUE(fs::is_empty(place.path()));
}

TEST(PrivateFolder, StaysWhereAnotherRunUsesIt) {
  const source::TempFolder place;
  const WithTmpdir tmpdir(place.path());
  const PrivateFolder first;
  const PrivateFolder second;
  EXPECT_TRUE(fs::exists(first.path()));
  EXPECT_NE(first.path(), second.path());
}

TEST(PrivateFolder, OfAKilledRunGoesWithTheNextRun) {
  const source::TempFolder place;
  const WithTmpdir tmpdir(place.path());
  const pid_t child = ::fork();
  if (child == 0) {
    const PrivateFolder folder;
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::string left = name_in(place.path());
  ASSERT_NE(left, "");
  const PrivateFolder folder;
  EXPECT_FALSE(fs::exists(fs::path(place.path()) / left));
}

TEST(PrivateFolder, TouchesNothingOfOthers) {
  const source::TempFolder place, elsewhere;
  const WithTmpdir tmpdir(place.path());
  const std::string file = place.write("loaderscope-run-notes");
  const std::string other = place.write("elsewhere/kept");
  const std::string target = elsewhere.write("kept");
  fs::create_directory_symlink(elsewhere.path(), place / "loaderscope-run-abcdef");
  const PrivateFolder folder;
  EXPECT_TRUE(fs::exists(file));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(fs::exists(target));
}

}  // namespace
}  // namespace loaderscope::guest
