// loaderscope plan, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Plan : public testing::Test {
 protected:
  // A worker makes a batch of 4 in 8 ms, a step takes 10 ms and 4 MB; epochs are long.
  std::string saved_run() const {
    const std::string path = folder_.path("r.json");
    const Ended ended =
        run_binary({"run",    "--engine",  "model", "--cost",         "decode=2ms", "--compute",
                    "10ms",   "--workers", "1",     "--batch",        "4",          "--cores",
                    "8",      "--steps",   "100",   "--stored-bytes", "1000000",    "--samples",
                    "400000", "--json",    path});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return path;
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
};

TEST_F(Plan, SaysHowBusyTheJobIsAndWhatIsFull) {
  const Ended ended = run_binary(
      {"plan", "--from", saved_run(), "--ranks", "100", "--storage", "20GB/s", "--gpu-price", "2"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out,
              StartsWith("100 ranks on 100 hosts: busy 50.0 % (measured with 1: 100.0 %)"));
  EXPECT_THAT(ended.out, HasSubstr("The job needs 40.0 GB/s of storage instead of 20.0 GB/s"));
  EXPECT_THAT(ended.out, HasSubstr("An epoch of 400,000 samples takes 20.00 s"));
}

// Steps of the remaining ranks contain waits for the lost ones.
TEST_F(Plan, RejectsRunThatLostProcesses) {
  const std::string path = saved_run();
  json result = json::parse(folder_.read("r.json"));
  result["metrics"].push_back(
      {{"name", "rendezvous.missing_processes"}, {"unit", "1"}, {"help", "gone"}});
  result["rendezvous"]["missing_processes"] = 1;
  std::ofstream(path) << result;
  for (const auto& words : {std::vector<std::string>{"plan", "--from", path, "--ranks", "8"},
                            {"what-if", path, "--set", "workers=2"}}) {
    const Ended ended = run_binary(words);
    EXPECT_EQ(ended.exit_code, 64) << ended.out;
    EXPECT_THAT(ended.err, HasSubstr("the run lost 1 process of its job"));
  }
}

// A thousand ranks of 2,000 samples: nothing is full, as nothing is trained.
TEST_F(Plan, RefusesMoreRanksThanTheSamplesAreEnoughFor) {
  const std::string path = folder_.path("r.json");
  run_binary({"run", "--engine", "model", "--cost", "decode=2ms", "--compute", "10ms", "--batch",
              "4", "--steps", "100", "--samples", "2000", "--json", path});
  const Ended ended = run_binary({"plan", "--from", path, "--ranks", "1000"});
  EXPECT_EQ(ended.exit_code, 64);
  EXPECT_THAT(ended.err, HasSubstr("too few samples, as each rank would get 2 of the 2,000 and a "
                                   "batch has 4"));
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(run_binary({"plan", "--from", path, "--ranks", "500"}).exit_code, 0);
  EXPECT_EQ(
      run_binary({"plan", "--from", path, "--ranks", "1000", "--set", "samples=100000"}).exit_code,
      0);
}

// Each rank wants 0.8 of the 2 cores that decode.
TEST_F(Plan, SaysTheNumberOfRanksAtWhichAThingIsFull) {
  const Ended ended =
      run_binary({"plan", "--from", saved_run(), "--ranks", "8", "--decode-hosts", "1:2"});
  EXPECT_THAT(ended.out, HasSubstr("are full first, at 3 ranks"));
}

TEST_F(Plan, SaysWhereMoreDoesNotHelp) {
  const std::string path = folder_.path("r.json");
  run_binary({"run",
              "--engine",
              "model",
              "--cost",
              "decode=8ms",
              "--cost",
              "startup.parent=30ms",
              "--compute",
              "40ms",
              "--workers",
              "3",
              "--batch",
              "16",
              "--samples",
              "2000",
              "--epochs",
              "6",
              "--cores",
              "8",
              "--json",
              path});
  const Ended ended = run_binary({"plan", "--from", path, "--ranks", "8"});
  EXPECT_THAT(ended.out, HasSubstr("samples/s with the begins of"));
  EXPECT_THAT(ended.out, HasSubstr("that does not help here"));
  EXPECT_THAT(ended.out, Not(HasSubstr("at most")));
}

TEST_F(Plan, SaysWhereTheTrainerMakesTheBatches) {
  const std::string path = folder_.path("r.json");
  run_binary({"run", "--engine", "model", "--cost", "decode=4ms", "--compute", "40ms", "--workers",
              "0", "--batch", "16", "--steps", "100", "--cores", "8", "--json", path});
  EXPECT_THAT(run_binary({"plan", "--from", path, "--ranks", "4"}).out,
              HasSubstr("instead of none, where the trainer makes every batch itself"));
}

TEST_F(Plan, SavesPlanThatReportReads) {
  const std::string path = folder_.path("p.json");
  const Ended made = run_binary({"plan", "--from", saved_run(), "--ranks", "16", "--hosts", "4",
                                 "--decode-hosts", "2:2", "--json", path});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const json plan = json::parse(folder_.read("p.json"));
  EXPECT_EQ(plan.at("schema"), "loaderscope.plan/1");
  EXPECT_EQ(plan.at("question").at("hosts"), 4);
  EXPECT_EQ(plan.at("full_first"), "decode-hosts");
  EXPECT_EQ(plan.at("sizes").back().at("ranks"), 16);
  for (const std::string form : {"table", "json", "html", "csv", "markdown", "brief"}) {
    const Ended report = run_binary({"report", path, "--format", form});
    EXPECT_EQ(report.exit_code, 0) << form << ": " << report.err;
    if (form == "table") {
      EXPECT_EQ(report.out, made.out);
    }
    if (form == "json") {
      EXPECT_EQ(report.out, folder_.read("p.json"));
    }
  }
}

TEST_F(Plan, RefusesInOneSentence) {
  const std::string run = saved_run();
  expect_refused(
      {"plan"},
      {
          {{"--from", run}, "--ranks: is missing"},
          {{"--from", run, "--ranks", "0"}, "expected a number from 1"},
          {{"--from", run, "--ranks", "99999999999"}, "expected a number from 1"},
          {{"--from", run, "--ranks", "2", "--hosts", "3"}, "more hosts than ranks"},
          {{"--from", run, "--ranks", "40000"}, "up to 32,768 ranks"},
          {{"--from", run, "--ranks", "2", "--storage", "0GB/s"}, "above 0"},
          {{"--from", run, "--ranks", "2", "--storage", "1GB/s:2ms:3"}, "RATE:LATENCY"},
          {{"--from", run, "--ranks", "2", "--decode-hosts", "4"}, "HOSTS:CORES"},
          {{"--from", run, "--ranks", "2", "--step", "fast"}, "--step fast: "},
          {{"--from", run, "--ranks", "2", "--set", "ranks=4"}, "give it with --ranks"},
          {{"--from", run, "--ranks", "2", "--set", "worker=4"}, "did you mean 'workers'?"},
          {{"--from", run, "--ranks", "2", "--json", run}, "would be made from", 1},
          {{"--from", folder_.path("none.json"), "--ranks", "2"}, "none.json", 1},
      });
}

}  // namespace
}  // namespace loaderscope::testing_cli
