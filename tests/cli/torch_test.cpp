// A user's PyTorch DataLoader, measured from inside: the result has the times that are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/torch_fixture.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST_F(TorchJobs, FindsSleepsOfWorkersInTheirStages) {
  const json result = measured("sleeps", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(result);
  EXPECT_EQ(result.at("engine"), "torch");
  EXPECT_EQ(result.at("config").at("num_workers"), 2);
  EXPECT_EQ(result.at("config").at("batch_size"), 8);
  EXPECT_EQ(result.at("config").at("executor"), "processes");
  const json& stages = result.at("stages");
  EXPECT_EQ(stages.at("opaque").at("count").get<int>() % 8, 0);
  EXPECT_GE(seconds_at(stages.at("opaque"), "p50_s"), 0.004);
  EXPECT_GE(seconds_at(stages.at("collate"), "p50_s"), 0.032);
  // Half of a batch's making sleeps in each of the two.
  const json& stall = result.at("account").at("stall_s");
  const double slept = seconds_at(stall, "opaque") + seconds_at(stall, "collate");
  for (const auto& [cause, seconds] : stall.items()) {
    if (cause == "opaque" || cause == "collate") continue;
    EXPECT_LT(seconds.get<double>(), slept) << cause;
  }
  expect_own_rate(result);
}

TEST_F(TorchJobs, MeasuresTrainerThatMakesItsBatches) {
  const json result = measured("sleeps", 0);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(result);
  EXPECT_EQ(result.at("config").at("executor"), "inline");
  const json& stages = result.at("stages");
  const double batches = result.at("window").at("steps");
  // The job sleeps as long as it declares. The machine only adds delays.
  EXPECT_GE(seconds_at(stages.at("opaque"), "wall_s"), batches * 8 * 0.004);
  EXPECT_GE(seconds_at(stages.at("collate"), "wall_s"), batches * 0.032);
  expect_own_rate(result);
}

TEST_F(TorchJobs, EndsProgramAfterStepsAndReportsHookCost) {
  const json result = measured("plain_forever", 2, {"--steps", "40"});
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(result.at("window").at("steps"), 40);
  // Turns on a crowded machine differ too much for a figure.
  const bool cannot_tell =
      result.at("notes").dump().find("costs is not known") != std::string::npos;
  EXPECT_NE(result.at("hooks").contains("cost_share"), cannot_tell);
  EXPECT_TRUE(result.at("hooks").at("trainer_share").is_number());
  EXPECT_THAT(ended_.err, HasSubstr("cleaned up"));
}

class TorchShapes : public TorchJobs, public ::testing::WithParamInterface<const char*> {};

TEST_P(TorchShapes, MeasuresTwoEpochsWithAnotherLoader) {
  const Environment kind("JOB_KIND", GetParam());
  const json result = measured("shapes", 2);
  expect_all_measured(result);
  const json& loaders = result.at("loaders");
  ASSERT_EQ(loaders.size(), 2u);
  for (const json& loader : loaders) EXPECT_EQ(loader.at("iterations"), 2) << loader;
  EXPECT_NE(loaders[0].at("measured"), loaders[1].at("measured"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, TorchShapes,
                         ::testing::Values("persistent", "dicts", "stream", "single"),
                         [](const auto& test) { return std::string(test.param); });

class TorchBadEnds : public TorchJobs, public ::testing::WithParamInterface<BadEnd> {};

TEST_P(TorchBadEnds, ReportsFailureInOneSentence) {
  const Words patience =
      std::string(GetParam().job) == "silent" ? Words{"--timeout", "6s"} : Words{};
  measured(GetParam().job, 2, patience);
  EXPECT_EQ(ended_.exit_code, 1) << ended_.err;
  EXPECT_THAT(ended_.err, HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(Jobs, TorchBadEnds,
                         ::testing::Values(BadEnd{"raises", "ValueError: sample 60 is rotten"},
                                           BadEnd{"killed", "was killed by SIGKILL"},
                                           BadEnd{"silent", "no batch came for 6.000 s"},
                                           BadEnd{"no_loader", "without taking a batch"}),
                         [](const auto& test) { return std::string(test.param.job); });

// The message comes after 20 s, as --duration would end nothing. The program runs to its own end.
TEST_F(TorchJobs, InformsUserOfProgramWithoutLoader) {
  measured("trains_without_a_loader", 0, {"--duration", "1s"});
  EXPECT_EQ(ended_.exit_code, 1);
  const auto informed = ended_.err.find("no loader that is known has given it a batch");
  const auto ended = ended_.err.find("went on to its end");
  EXPECT_LT(informed, ended) << ended_.err;
  EXPECT_NE(ended, std::string::npos) << ended_.err;
  EXPECT_THAT(ended_.err, HasSubstr("--duration begins with the first one"));
  EXPECT_THAT(ended_.err, HasSubstr("--batch-function FILE.py:NAME"));
}

TEST_F(TorchJobs, LeavesNothingAfterEarlyExit) {
  const TestFolder temporary;
  const Environment folder("TMPDIR", temporary.path(""));
  const json result = measured("exits_early", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(result);
  EXPECT_EQ(temporary.files(), 0);
}

// The forked process outlives the program, and keeps the files that it may read.
TEST_F(TorchJobs, MeasuresForkingProgramToItsEnd) {
  const json result = measured("forks", 2);
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  expect_closed(result);
}

TEST_F(TorchJobs, ReplacesArgumentsByFlags) {
  const json result =
      measured("plain_forever", 0, {"--num-workers", "2", "--batch-size", "4", "--steps", "20"});
  ASSERT_EQ(ended_.exit_code, 0) << ended_.err;
  EXPECT_EQ(result.at("config").at("num_workers"), 2);
  EXPECT_EQ(result.at("config").at("batch_size"), 4);
}

TEST_F(TorchJobs, TrainsLoaderOnSimulatedDevice) {
  const Ended ended = run_binary({"run", "--loader", torch_job() + ":make_loader", "--python",
                                  torch_python(), "--compute", "30ms", "--inject", "collate=+10ms",
                                  "--steps", "40", "--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json result = json::parse(ended.out);
  expect_closed(result);
  EXPECT_EQ(result.at("stages").at("compute").at("count"), 40);
  EXPECT_NEAR(seconds_at(result.at("stages").at("compute"), "mean_s"), 0.030, 1e-6);
  EXPECT_GE(seconds_at(result.at("stages").at("collate"), "p50_s"), 0.010);
}

// These need no torch.

TEST(Guest, ReportsProgramWithoutDataLoader) {
  const Ended ended = run_binary({"run", "--", "python3", "-c", "print('hello')"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("hello\n"));  // standard output is for the answer
  EXPECT_THAT(ended.err, HasSubstr("without taking a batch from a loader that is known"));
  EXPECT_EQ(ended.out, "");
}

TEST(Guest, ReportsProgramsWithoutPython) {
  EXPECT_THAT(run_binary({"run", "--", "/bin/true"}).err, HasSubstr("no Python was started"));
  EXPECT_THAT(run_binary({"run", "--", "/bin/false"}).err, HasSubstr("ended with exit code 1"));
  EXPECT_THAT(run_binary({"run", "--", "no-such-program"}).err, HasSubstr("cannot be started"));
}

TEST(Guest, PassesWordsAfterDashesToProgram) {
  const Ended ended = run_binary(
      {"run", "--", "python3", "-c", "import sys; print(sys.argv)", "--workers", "--", "", "-x"});
  EXPECT_THAT(ended.err, HasSubstr("['-c', '--workers', '--', '', '-x']"));
}

TEST(Guest, RejectsSettingsOfOurLoader) {
  const Ended ended = run_binary({"run", "--cost", "decode=1ms", "--", "python3", "x.py"});
  EXPECT_EQ(ended.exit_code, 64);
  EXPECT_THAT(ended.err, HasSubstr("cost = decode=1ms: is for our own loader"));
  EXPECT_EQ(run_binary({"run", "--"}).exit_code, 64);
  EXPECT_EQ(run_binary({"run", "--engine", "torch"}).exit_code, 64);
}

}  // namespace
}  // namespace loaderscope::testing_cli
