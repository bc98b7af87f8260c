// Worker processes, from the outside: whatever is killed, nothing stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/run_binary.h"
#include "unit/native/processes.h"

namespace loaderscope::testing_cli {
namespace {

using native::descendant_pids;
using native::is_alive;
using testing::HasSubstr;

bool wait_until(const std::function<bool()>& is_so) {
  for (int i = 0; i < 1000; ++i) {
    if (is_so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// A run without end, once its two workers are at work.
class Processes : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(wait_until([&] { return native::worker_pids(running_.pid()).size() == 2; }));
    family_ = descendant_pids(running_.pid());
    ASSERT_EQ(family_.size(), 3U);
  }
  bool all_are_gone() const {
    return wait_until([&] { return std::none_of(family_.begin(), family_.end(), is_alive); });
  }

  TestFolder folder_;
  RunningBinary running_{{"run", "--device", "sim", "--executor", "processes", "--workers", "2",
                          "--cost", "decode=5ms:sleep", "--batch", "4", "--compute", "1ms",
                          "--duration", "1h", "--json", folder_.path("r.json")}};
  std::vector<pid_t> family_;
};

TEST_F(Processes, LeavesNoProcessAfterKillOfRun) {
  running_.send(SIGKILL);
  EXPECT_EQ(running_.wait().exit_code, -SIGKILL);
  EXPECT_TRUE(all_are_gone());
  EXPECT_EQ(folder_.files(), 0);
}

TEST_F(Processes, EndsRunInOneSentenceAfterKillOfWorker) {
  ::kill(family_.back(), SIGKILL);
  const Ended ended = running_.wait();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("loaderscope: worker "));
  EXPECT_THAT(ended.err, HasSubstr("(pid " + std::to_string(family_.back()) +
                                   ") was killed by signal 9 (SIGKILL) "));
  EXPECT_TRUE(all_are_gone());
}

TEST_F(Processes, EndsAllAtCtrlCAndSavesMeasurements) {
  std::this_thread::sleep_for(std::chrono::seconds(1));
  for (const pid_t pid : family_) ::kill(pid, SIGINT);
  running_.send(SIGINT);
  const Ended ended = running_.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_GT(nlohmann::json::parse(folder_.read("r.json")).at("window").at("steps"), 0);
  EXPECT_TRUE(all_are_gone());
}

TEST_F(Processes, KillsAllAtSecondCtrlC) {
  running_.send(SIGINT);
  running_.send(SIGINT);
  const int code = running_.wait().exit_code;
  EXPECT_TRUE(code == -SIGINT || code == 130) << code;  // the run may end before the second signal
  EXPECT_TRUE(all_are_gone());
}

}  // namespace
}  // namespace loaderscope::testing_cli
