// loaderscope run --prove, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The history of predictions goes to a folder of the test.
class ProveFlag : public testing::Test {
 protected:
  // 2 workers need 20 ms for a batch, the GPU 10 ms; without decode it is always busy.
  static Words modelled(const Words& more) {
    Words words = {"run",         "--engine",  "model", "--cost",    "decode=9ms", "--cost",
                   "augment=1ms", "--steps",   "60",    "--batch",   "4",          "--cores",
                   "8",           "--workers", "2",     "--compute", "10ms"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  TestFolder folder_;
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
};

TEST_F(ProveFlag, SaysWhatWasPredictedAndMeasured) {
  const Ended ended = run_binary(modelled({"--prove"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("proved: decode knocked out -> predicted 100.0 %, measured "
                                   "100.0 % busy; rate x2.00 predicted"));
}

TEST_F(ProveFlag, KeepsProofInResultAndReports) {
  const std::string path = folder_.path("r.json");
  ASSERT_EQ(run_binary(modelled({"--prove", "--json", path})).exit_code, 0);
  const json proof = json::parse(folder_.read("r.json")).at("proof");
  EXPECT_EQ(proof.at("asked"), "blamed");
  EXPECT_EQ(proof.at("exact"), true);
  const json knock_out = proof.at("cases").at(0);
  EXPECT_EQ(knock_out.at("knocked_out"), json({"decode"}));
  EXPECT_EQ(knock_out.at("confirmed"), true);
  EXPECT_NEAR(knock_out.at("measured").at("gain").at("mean").get<double>(), 2, 1e-9);
  EXPECT_EQ(knock_out.at("predicted").at("samples_per_s"),
            knock_out.at("runs").at(0).at("samples_per_s"));
  for (const char* form : {"table", "markdown"}) {
    const Ended report = run_binary({"report", path, "--format", form});
    ASSERT_EQ(report.exit_code, 0) << report.err;
    EXPECT_THAT(report.out, HasSubstr("proved: decode knocked out")) << form;
  }
  EXPECT_EQ(run_binary({"report", path, "--format", "json"}).out, folder_.read("r.json"));
}

TEST_F(ProveFlag, MeasuresAdvisedFixByTry) {
  const std::string path = folder_.path("r.json");
  const Words pipeline = {"run",     "--engine",  "model",   "--cost",    "decode=10ms:sleep",
                          "--steps", "60",        "--batch", "4",         "--cores",
                          "8",       "--workers", "1",       "--compute", "10ms"};
  const auto with = [&](const Words& more) {
    Words words = pipeline;
    words.insert(words.end(), more.begin(), more.end());
    return run_binary(words);
  };
  EXPECT_THAT(with({}).out,
              HasSubstr("--compute 10ms --cost decode=10ms:sleep --cores 8 --steps 60 "
                        "--try\n"));
  const Ended ended = with({"--try", "--json", path});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(" was tried and "));
  EXPECT_THAT(ended.out, HasSubstr(" helps: "));
  const json proof = json::parse(folder_.read("r.json")).at("proof");
  EXPECT_EQ(proof.at("asked"), "fix");
  EXPECT_EQ(proof.at("cases").at(0).at("helps"), true);
  EXPECT_EQ(proof.at("base").at("runs").size(), 1U);
  EXPECT_THAT(run_binary({"report", path}).out, HasSubstr(" was tried and "));
  EXPECT_EQ(with({"--try", "--prove"}).exit_code, 64);
}

// In real time, with sleeps in place of work.
TEST_F(ProveFlag, ReportsTrialInAdvanceAndKeepsItsBudget) {
  const auto with = [&](const Words& more) {
    Words words = {"run",       "--cost", "decode=10ms:sleep", "--steps", "30",   "--batch", "4",
                   "--workers", "1",      "--compute",         "10ms",    "--try"};
    words.insert(words.end(), more.begin(), more.end());
    return run_binary(words);
  };
  const Ended ended = with({});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("loaderscope: testing num-workers="));
  EXPECT_THAT(ended.err, HasSubstr(" with 10 short runs of 20 steps, about "));
  const Ended brief = with({"--budget", "1s"});
  ASSERT_EQ(brief.exit_code, 0) << brief.err;
  EXPECT_THAT(brief.out, HasSubstr("Nothing was tried: 6 runs of about "));
  EXPECT_EQ(run_binary({"run", "--cost", "decode=1ms", "--budget", "1m"}).exit_code, 64);
}

TEST_F(ProveFlag, ReportsTrialWithoutAdvice) {
  const Ended ended =
      run_binary({"run", "--engine", "model", "--cost", "decode=1ms", "--steps", "60", "--batch",
                  "4", "--cores", "8", "--workers", "4", "--compute", "20ms", "--try"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Nothing was tried: no setting is advised"));
}

TEST_F(ProveFlag, ReportsAllRowsOrWhyTheyAreMissing) {
  const Ended ended = run_binary(modelled({"--prove", "all"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("device only"));
  EXPECT_THAT(ended.out, HasSubstr("declared samples lie in no file"));
  EXPECT_THAT(ended.out, Not(HasSubstr("proved: ")));
}

TEST_F(ProveFlag, RunsRealImagesColdAndCached) {
  const std::string data = folder_.path("data");
  ASSERT_EQ(run_binary({"data", "make", data, "--count", "40", "--size", "64x48"}).exit_code, 0);
  const std::string path = folder_.path("r.json");
  const Ended ended =
      run_binary({"run", "--data", data, "--prove=all", "--device", "null", "--batch", "2",
                  "--workers", "1", "--size", "32", "--duration", "50ms", "--json", path});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json cases = json::parse(folder_.read("r.json")).at("proof").at("cases");
  ASSERT_EQ(cases.size(), 4u);
  for (std::size_t i : {0u, 1u}) EXPECT_EQ(cases[i].at("runs").size(), 5u) << cases[i];
  // A row without runs gives a reason: a folder in memory has no cold cache.
  for (std::size_t i : {2u, 3u})
    EXPECT_EQ(cases[i].at("missing").is_null(), cases[i].at("runs").size() == 5) << cases[i];
}

TEST_F(ProveFlag, RemembersPredictionsOfRealRuns) {
  const Ended ended = run_binary({"run", "--prove", "all", "--cost", "decode=2ms:sleep",
                                  "--workers", "1", "--batch", "2", "--compute", "1ms",
                                  "--duration", "100ms", "--require", "device.busy >= 0.99"});
  // The run itself decides, although the device alone is busier.
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("device only"));
  EXPECT_THAT(folder_.read("cache/loaderscope/predictions"), HasSubstr("\n"));
}

TEST_F(ProveFlag, SaysWhyItCannot) {
  const Ended ended = run_binary({"run", "--prove", "--engine", "model", "--cost", "decode=9ms",
                                  "--compute", "10ms", "--steps", "5"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Nothing was proved: the verdict is withheld: "));
  const Ended compute = run_binary({"run", "--prove", "--engine", "model", "--cost", "launch=30ms",
                                    "--compute", "10ms", "--steps", "60"});
  EXPECT_THAT(compute.out, HasSubstr("launch was not proved: it cannot be left out of a run: "));
}

TEST_F(ProveFlag, RefusesWhatItDoesNotKnow) {
  const Ended ended = run_binary(modelled({"--prove", "nonsense"}));
  EXPECT_EQ(ended.exit_code, 64);
  EXPECT_THAT(ended.err, HasSubstr("--prove nonsense: "));
  EXPECT_EQ(run_binary({"what-if", "--prove", "--cost", "decode=1ms"}).exit_code, 64);
  const std::string scenario = folder_.write("s.conf", "prove = al\n");
  EXPECT_THAT(run_binary({"run", "--scenario", scenario}).err, HasSubstr("did you mean 'all'"));
}

TEST_F(ProveFlag, AcceptsProveInScenario) {
  const std::string scenario = folder_.write("s.conf", "prove = blamed\n");
  const Ended ended = run_binary(modelled({"--scenario", scenario}));
  EXPECT_THAT(ended.out, HasSubstr("proved: decode knocked out"));
}

// The base run ends at once, and each run of the proof waits a while.
TEST_F(ProveFlag, KeepsMeasurementsAfterSignal) {
  const std::string path = folder_.path("r.json");
  RunningBinary running({"run", "--prove", "--cost", "decode=5ms:sleep", "--workers", "1",
                         "--batch", "2", "--compute", "1ms", "--warmup", "1", "--duration", "1s",
                         "--json", path});
  running.wait_until_it_catches(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(1700));
  running.send(SIGINT);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  EXPECT_EQ(json::parse(folder_.read("r.json")).at("schema"), "loaderscope.run/1");
}

}  // namespace
}  // namespace loaderscope::testing_cli
