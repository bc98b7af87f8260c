// The helper, and that it can be trusted.
#include "cli/run_binary.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

namespace loaderscope::testing_cli {
namespace {

namespace fs = std::filesystem;

int unnamed_file() {
  std::string name = fs::temp_directory_path() / "loaderscope_test.XXXXXX";
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  ::unlink(name.c_str());
  return fd;
}

std::string text_of_file(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t count = 0;
  off_t at = 0;
  while ((count = ::pread(fd, buffer, sizeof buffer, at)) > 0) {
    text.append(buffer, static_cast<std::size_t>(count));
    at += count;
  }
  return text;
}

// Most tests look for a sentence with its advice, whatever the line of each.
std::string joined_hints(std::string text) {
  constexpr std::string_view kHint = "\nhint: ";
  for (std::size_t at = 0; (at = text.find(kHint, at)) != text.npos;)
    text.replace(at, kHint.size(), "; ");
  return text;
}

}  // namespace

RunningBinary::RunningBinary(const std::vector<std::string>& words, const std::string& stdout_path,
                             const std::string& program)
    : out_(stdout_path.empty() ? unnamed_file()
                               : ::open(stdout_path.c_str(), O_WRONLY | O_CLOEXEC)),
      err_(unnamed_file()) {
  std::vector<std::string> all = {program};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out_, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err_, STDERR_FILENO);
  // Most tests look at the long answer. Tests of the default answer set the variable themselves.
  ::setenv("LOADERSCOPE_SUMMARY", "full", 0);
  const int error = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), program);
}

RunningBinary::~RunningBinary() {
  if (!ended_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(out_);
  ::close(err_);
}

void RunningBinary::send(int signal) const { ::kill(pid_, signal); }

void RunningBinary::wait_until_it_catches(int signal) {
  const std::string path = "/proc/" + std::to_string(pid_) + "/status";
  const auto catches = [&] {
    std::ifstream status(path);
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigCgt:"))
        return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
    }
    return false;
  };
  while (!has_ended() && !catches()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

void RunningBinary::take_status(int status) {
  ended_ = true;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool RunningBinary::has_ended() {
  int status = 0;
  if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_) take_status(status);
  return ended_;
}

std::string RunningBinary::err() const { return text_of_file(err_); }

Ended RunningBinary::wait() {
  for (int i = 0; !has_ended(); ++i) {
    if (i == 36'000) send(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const std::string printed = text_of_file(err_);
  return {exit_code_, text_of_file(out_), joined_hints(printed), printed};
}

Ended run_binary(const std::vector<std::string>& words) { return RunningBinary(words).wait(); }

Ended run_program(const std::string& path, const std::vector<std::string>& words) {
  return RunningBinary(words, "", path).wait();
}

void expect_refused(const Words& command, const std::vector<Refused>& cases) {
  for (const Refused& refused : cases) {
    Words words = command;
    words.insert(words.end(), refused.words.begin(), refused.words.end());
    const Ended ended = run_binary(words);
    EXPECT_EQ(ended.exit_code, refused.exit_code) << refused.message << ended.err;
    EXPECT_THAT(ended.err, ::testing::HasSubstr(refused.message));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

TestFolder::TestFolder() : path_(fs::temp_directory_path() / "loaderscope_test.XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), path_);
  }
}

TestFolder::~TestFolder() { fs::remove_all(path_); }

std::string TestFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

std::string TestFolder::read(const std::string& name) const {
  std::ifstream file(path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int TestFolder::files() const {
  return static_cast<int>(std::distance(fs::directory_iterator(path_), {}));
}

TEST(RunBinary, SeesTextsAndExitCode) {
  const Ended ended = run_binary({"--version"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_TRUE(ended.out.starts_with("loaderscope "));
  EXPECT_EQ(ended.err, "");
}

}  // namespace loaderscope::testing_cli
