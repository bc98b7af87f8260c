// loaderscope selftest, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Selftest, FindsEveryDelayInTheModel) {
  const Ended ended = run_binary({"selftest", "--engine", "model"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("Trust it here: at least 95 % of every injected delay was "
                                    "found in its own stage, worst "));
  for (const char* stage :
       {"read", "decode", "augment", "collate", "transport", "pin", "h2d", "launch", "startup"})
    EXPECT_THAT(ended.out, HasSubstr(stage));
}

TEST(Selftest, PrintsOnlyJsonWhereAsked) {
  const Ended ended = run_binary({"selftest", "--engine", "model", "--quick", "--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json answer = json::parse(ended.out);
  EXPECT_EQ(answer.at("schema"), "loaderscope.selftest/1");
  EXPECT_EQ(answer.at("passed"), true);
  for (const json& stage : answer.at("stages")) {
    EXPECT_NEAR(stage.at("share").get<double>(), 1, 1e-6) << stage;
    EXPECT_EQ(stage.at("rounds_s").size(), 1U);
  }
}

TEST(Selftest, LeavesNoFolderWhenStopped) {
  TestFolder folder;
  const Environment temporary("TMPDIR", folder.path("."));
  RunningBinary running({"selftest", "--json", folder.path("s.json")});
  const auto has_begun = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path(".")))
      if (entry.is_directory()) return true;
    return false;
  };
  while (!has_begun() && !running.has_ended())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  running.send(SIGINT);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("Interrupted after "));
  EXPECT_EQ(folder.files(), 1) << "only the answer";
  EXPECT_FALSE(has_begun());
  EXPECT_EQ(json::parse(folder.read("s.json")).at("interrupted"), true);
}

TEST(Selftest, SaysWhatOfAScenarioHasNoEffect) {
  TestFolder folder;
  const std::string scenario =
      folder.write("s.conf", "engine = model\nnum-workers = 4\ncost = decode=8ms\n");
  const Ended ended = run_binary({"selftest", "--quick", "--scenario", scenario});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("- no effect here: num-workers, cost;"));
}

TEST(Selftest, RefusesInOneSentence) {
  TestFolder empty;
  expect_refused(
      {"selftest", "--quick"},
      {
          {{"--workers", "4"}, "--workers"},
          {{"--engine", "model", "--data", "/tmp"}, "the model runs declared costs only"},
          {{"--device", "null"}, "nothing computes"},
          {{"--duration", "0s"}, "duration"},
          {{"--data", empty.path("none")}, "none", 1},
          {{"--engine", "model", "--json", empty.path("no/such/s.json")}, "s.json", 1},
      });
}

}  // namespace
}  // namespace loaderscope::testing_cli
