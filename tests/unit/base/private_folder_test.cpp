// A private folder: gone with its object, and where the process was killed, with the next one.
#include "base/private_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

using source::TempFolder;

constexpr const char* kFolderPrefix = "loaderscope-run-";

std::string first_entry(const std::string& place) {
  const fs::directory_iterator found(place);
  return found == fs::directory_iterator() ? "" : found->path().filename().string();
}

TEST(PrivateFolder, MakesMissingFoldersForThisUserOnly) {
  const TempFolder place;
  fs::create_directory(place / "there");
  fs::permissions(place / "there", fs::perms(0755));
  EXPECT_EQ(make_private_folders(place / "there/a/b"), 0);
  EXPECT_EQ(make_private_folders(place / "there/a/b"), 0);
  EXPECT_EQ(fs::status(place / "there").permissions(), fs::perms(0755));
  for (const char* made : {"there/a", "there/a/b"})
    EXPECT_EQ(fs::status(place / made).permissions(), fs::perms(0700));
  place.write("file");
  EXPECT_NE(make_private_folders(place / "file/a"), 0);
}

TEST(PrivateFolder, RemovesItselfWithItsObject) {
  const TempFolder place;
  {
    const PrivateFolder folder(place.path(), kFolderPrefix);
    EXPECT_TRUE(fs::is_directory(folder.path()));
    EXPECT_EQ(fs::path(folder.path()).parent_path(), place.path());
  }
  EXPECT_TRUE(fs::is_empty(place.path()));
}

TEST(PrivateFolder, StaysWhereAnotherRunUsesIt) {
  const TempFolder place;
  const PrivateFolder first(place.path(), kFolderPrefix);
  const PrivateFolder second(place.path(), kFolderPrefix);
  EXPECT_TRUE(fs::exists(first.path()));
  EXPECT_NE(first.path(), second.path());
}

TEST(PrivateFolder, RemovesFolderOfKilledRun) {
  const TempFolder place;
  const pid_t child = ::fork();
  if (child == 0) {
    const PrivateFolder folder(place.path(), kFolderPrefix);
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::string left = first_entry(place.path());
  ASSERT_NE(left, "");
  const PrivateFolder folder(place.path(), kFolderPrefix);
  EXPECT_FALSE(fs::exists(fs::path(place.path()) / left));
}

bool has_in_environment(pid_t process, const std::string& variable) {
  std::ifstream file("/proc/" + std::to_string(process) + "/environ", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  const auto at = all.find(variable);
  const bool is_child_of_test = all.size() > variable.size() + 1;  // true before execve()
  return at != all.npos && !is_child_of_test;
}

// A guest that outlives the run that measured it may still use the files of the folder.
TEST(PrivateFolder, StaysWhileGuestUsesIt) {
  const TempFolder place;
  pid_t guest = -1;
  std::string path;
  {
    const PrivateFolder folder(place.path(), kFolderPrefix);
    path = folder.path();
    const std::string variable = "LOADERSCOPE_GUEST=" + path;
    guest = ::fork();
    if (guest == 0) {
      char* words[] = {const_cast<char*>("sleep"), const_cast<char*>("60"), nullptr};
      char* variables[] = {const_cast<char*>(variable.c_str()), nullptr};
      ::execve("/bin/sleep", words, variables);
      ::_exit(127);
    }
    while (!has_in_environment(guest, variable) && ::waitpid(guest, nullptr, WNOHANG) == 0)
      ::usleep(1000);
  }
  EXPECT_TRUE(fs::exists(path));
  { const PrivateFolder next(place.path(), kFolderPrefix); }
  EXPECT_TRUE(fs::exists(path));
  ::kill(guest, SIGKILL);
  ASSERT_EQ(::waitpid(guest, nullptr, 0), guest);
  { const PrivateFolder next(place.path(), kFolderPrefix); }
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateFolder, TouchesNothingOfOthers) {
  const TempFolder place, elsewhere;
  const std::string file = place.write("loaderscope-run-notes");
  const std::string other = place.write("elsewhere/kept");
  const std::string target = elsewhere.write("kept");
  fs::create_directory_symlink(elsewhere.path(), place / "loaderscope-run-abcdef");
  const PrivateFolder folder(place.path(), kFolderPrefix);
  EXPECT_TRUE(fs::exists(file));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(fs::exists(target));
}

}  // namespace
}  // namespace loaderscope
