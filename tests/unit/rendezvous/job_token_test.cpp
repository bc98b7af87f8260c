#include "rendezvous/process_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <vector>

#include "loaderscope/errors.h"
#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;
using source::TempFolder;
using testing::HasSubstr;

Variable with(const char* token) {
  return
      [token](const char* name) { return std::string(name) == kTokenVariable ? token : nullptr; };
}
const Variable kNothing = with(nullptr);

std::string why_none(const Variable& variable, const std::string& folder) {
  try {
    job_token(variable, folder);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(JobToken, ReadsEnvironment) {
  EXPECT_EQ(job_token(with("sixteen letters."), "").exposed(), "sixteen letters.");
  EXPECT_THAT(why_none(with("short"), "/nowhere"), HasSubstr("too short to be a secret"));
}

TEST(JobToken, CreatesOneTokenForAllProcessesOfUser) {
  const TempFolder home;
  std::vector<std::future<std::string>> coming;
  for (int i = 0; i < 8; ++i)
    coming.push_back(std::async(std::launch::async, [&] {
      return job_token(kNothing, home / "cache/loaderscope").exposed();
    }));
  std::set<std::string> tokens;
  for (auto& one : coming) tokens.insert(one.get());
  ASSERT_EQ(tokens.size(), 1U);
  EXPECT_EQ(tokens.begin()->size(), 64U);
  const fs::path file = home / "cache/loaderscope/job-token";
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0600));
  EXPECT_EQ(fs::status(file.parent_path()).permissions(), fs::perms(0700));
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1);
}

TEST(JobToken, RejectsFileThatOthersMayRead) {
  const TempFolder home;
  job_token(kNothing, home.path());
  fs::permissions(home / "job-token", fs::perms(0640));
  EXPECT_THAT(why_none(kNothing, home.path()), HasSubstr("is no file of this user alone"));
  fs::permissions(home / "job-token", fs::perms(0600));
  fs::resize_file(home / "job-token", 3);
  EXPECT_THAT(why_none(kNothing, home.path()), HasSubstr("is cut off"));
}

TEST(JobToken, RequestsVariableWithoutHomeFolder) {
  EXPECT_THAT(why_none(kNothing, ""), HasSubstr("set LOADERSCOPE_TOKEN to one random text"));
}

}  // namespace
}  // namespace loaderscope
