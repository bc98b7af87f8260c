// A job of processes with a link between them that takes its time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "unit/source/remote/fault_server.h"

namespace loaderscope::testing_cli {
namespace {

using ::testing::HasSubstr;

class LateLink : public testing::Test {
 protected:
  // Each rank makes a batch in 4 ms on two workers, and a step computes for 20.
  std::unique_ptr<RunningBinary> started(int number, const std::string& port) const {
    const Environment rank("RANK", std::to_string(number)), world("WORLD_SIZE", "2");
    const Environment address("MASTER_ADDR", "127.0.0.1"), at("MASTER_PORT", port);
    return std::make_unique<RunningBinary>(
        Words{"run",       "--rendezvous", "env",          "--source", "synthetic",
              "--device",  "sim",          "--sync-ranks", "--cost",   "decode=1ms:sleep",
              "--compute", "20ms",         "--batch",      "4",        "--workers",
              "2",         "--steps",      "60",           "--json",   folder_.path("job.json")});
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
  std::string port_ = std::to_string(29'500 + ::getpid() % 400);
};

// A step of both begins once word has gone there and back: 20 ms of computing, and up to 40 of the
// link.
TEST_F(LateLink, ReportsWaitForLateLink) {
  const source::FaultServer link(port_, "late_link.py", "python3", "", "0.02");
  if (!link.runs()) GTEST_SKIP() << "no python3 to carry what is said";
  auto first = started(0, port_), second = started(1, link.said());
  const Ended ended = first->wait(), other = second->wait();
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(ended.out, HasSubstr("notifications from other processes"));
  const auto result = nlohmann::json::parse(folder_.read("job.json"));
  // The printed answer has no advice if a busy machine left no verdict. The result has it.
  EXPECT_THAT(result.at("findings").dump(),
              HasSubstr("look at the network between the processes of the job"));
  const double wall_s = result.at("window").at("wall_s").get<double>();
  EXPECT_GT(wall_s / 60, 0.035);
  EXPECT_GT(result.at("account").at("stall_s").at("launch").get<double>(), wall_s / 3);
}

}  // namespace
}  // namespace loaderscope::testing_cli
