// sweep and tune of somebody else's loader and program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "cli/torch_python.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class TorchExperiment : public TorchTest {
 protected:
  static Words loader(const std::string& command, const Words& more) {
    Words words = {command,    "--loader",     torch_job() + ":make_loader",
                   "--python", torch_python(), "--steps",
                   "20",       "--budget",     "60s"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(TorchExperiment, ReportsResourcesOfLoaderInSweep) {
  const Ended ended = run_binary(loader(
      "sweep", {"-L", "workers=1,2", "--precision", "0.9", "--compute", "4ms", "--json", "-"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, Not(HasSubstr("UserWarning")));  // output of programs is hidden
  const json answer = json::parse(ended.out);
  for (const json& one : answer.at("cases")) {
    ASSERT_EQ(one.at("runs").size(), 2U);
    const json& run = one.at("runs").at(0);
    EXPECT_GT(run.at("cpu_s").get<double>(), 0);
    EXPECT_GT(run.at("resident_bytes").get<std::int64_t>(), 50'000'000);
    EXPECT_GT(run.at("worker_bytes").get<std::int64_t>(), 1'000'000);
    EXPECT_EQ(run.at("samples"), 160);
  }
}

TEST_F(TorchExperiment, PrintsCallOfFoundLoaderInTune) {
  const Ended ended = run_binary(loader("tune", {"-L", "workers=0,2", "--compute", "4ms"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Use num-workers="));
  EXPECT_THAT(ended.out, HasSubstr("DataLoader(ds, batch_size=8, num_workers="));
}

TEST_F(TorchExperiment, RunsSavedProgramAgainInTune) {
  const TestFolder folder;
  const std::string result = folder.path("r.json");
  const Ended run = run_binary(
      {"run", "--steps", "20", "--json", result, "--", torch_python(), torch_job(), "plain", "1"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Ended ended =
      run_binary({"tune", "--from", result, "-L", "workers=1,2", "--budget", "60s", "--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json answer = json::parse(ended.out);
  EXPECT_EQ(answer.at("recommendation").at("batch_size"), 8);
  EXPECT_EQ(answer.at("base").at("command").at(0), torch_python());
  EXPECT_EQ(answer.at("now").at("workers"), 1);  // the setting of the program is measured too
  std::int64_t ran = 0;
  for (const json& one : answer.at("cases")) ran += one.at("measured").is_null() ? 0 : 1;
  EXPECT_EQ(ran, 2);
}

TEST_F(TorchExperiment, ShowsTracebackOfFailingProgram) {
  const Ended ended = run_binary({"sweep", "--budget", "60s", "-L", "workers=1,2", "--",
                                  torch_python(), torch_job(), "raises", "1"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no case could be run: "));
  const auto first = ended.err.find("Traceback");
  EXPECT_NE(first, std::string::npos);
}

}  // namespace
}  // namespace loaderscope::testing_cli
