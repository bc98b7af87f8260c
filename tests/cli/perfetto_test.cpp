// A trace of ours, read by Perfetto's own schema.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/run_binary.h"
#include "cli/run_script.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;

std::int64_t ns(const json& seconds) { return std::llround(1e9 * seconds.get<double>()); }

// In virtual time, and by real threads, whose slices no two of one track may overlap.
const Words kModel = {"--engine", "model",    "--cost",  "decode=lognormal:10ms:0.7",
                      "--cost",   "read=3ms", "--cores", "8"};
const Words kThreads = {"--cost", "decode=lognormal:1ms:0.7", "--cost", "read=1ms"};

class PerfettoFile : public ::testing::TestWithParam<const Words*> {};

TEST_P(PerfettoFile, GivesBackTheAccountOfEachStepToTheNanosecond) {
  const std::string python = traces_python();
  if (python.empty()) GTEST_SKIP() << "no perfetto: scripts/python-env traces brings it";
  const TestFolder folder;
  const std::string saved = folder.path("r.json"), trace = folder.path("r.pftrace");
  Words words = {"run", "--compute", "5ms", "--batch", "4",   "--workers",  "1",  "--ranks",
                 "2",   "--steps",   "200", "--json",  saved, "--perfetto", trace};
  words.insert(words.end(), GetParam()->begin(), GetParam()->end());
  const Ended made = run_binary(words);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Ended read =
      run_program(python, {LOADERSCOPE_SOURCE_DIR "/tests/tools/read_perfetto.py", trace});
  ASSERT_EQ(read.exit_code, 0) << read.err;
  std::map<std::pair<int, int>, json> accounts;
  for (const json& step : json::parse(read.out))
    accounts[{step.at("rank").get<int>(), step.at("step").get<int>()}] = step.at("account");
  const json steps = json::parse(folder.read("r.json")).at("steps");
  EXPECT_EQ(accounts.size(), steps.size());
  ASSERT_GE(steps.size(), 400U);
  for (const json& step : steps) {
    const json& account = accounts[{step.at("rank").get<int>(), step.at("step").get<int>()}];
    std::int64_t sum = 0;
    for (const auto& [cause, seconds] : step.at("stall_s").items()) {
      EXPECT_LE(std::abs(account.value(cause, std::int64_t{0}) - ns(seconds)), 1) << cause;
      sum += account.value(cause, std::int64_t{0});
    }
    const std::int64_t compute = account.at("compute");
    EXPECT_LE(
        std::abs(sum + compute - (ns(step.at("compute_end_s")) - ns(step.at("idle_begin_s")))), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, PerfettoFile, ::testing::Values(&kModel, &kThreads),
                         [](const auto& test) {
                           return test.param == &kModel ? "InTheModel" : "ByThreads";
                         });

}  // namespace
}  // namespace loaderscope::testing_cli
