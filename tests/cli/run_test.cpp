// loaderscope run, from the outside: where results go, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

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

// 100 steps in virtual time of a loader that is too slow. The machine has more cores than the run
// needs. With fewer cores, the run would also search for the smallest sufficient machine, which is
// slow.
Words small_run(const Words& more = {}) {
  Words words = {"run",       "--engine", "model",   "--compute", "12ms",    "--cost", "decode=1ms",
                 "--workers", "2",        "--cores", "8",         "--steps", "100"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Run, PrintsATableAndSavesTheResult) {
  const TestFolder folder;
  const Ended ended = run_binary(small_run({"--json", folder.path("r.json")}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, Not(HasSubstr("\"schema\"")));
  EXPECT_FALSE(ended.out.empty());
  const json result = json::parse(folder.read("r.json"));
  EXPECT_EQ(result.at("schema"), "loaderscope.run/1");
  EXPECT_EQ(result.at("config").at("num_workers"), 2);
  EXPECT_EQ(folder.files(), 1);
}

TEST(Run, HidesFileOfAlsoJsonFromTheAnswer) {
  const TestFolder folder;
  const std::string place = folder.path("handed.json");
  const Ended ended = run_binary(small_run({"--also-json", place}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, run_binary(small_run()).out);
  const std::string handed = folder.read("handed.json");
  EXPECT_EQ(json::parse(handed).at("schema"), "loaderscope.run/1");
  EXPECT_THAT(handed, Not(HasSubstr("handed.json")));
  const Ended refused = run_binary(small_run({"--also-json", "-"}));
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.err, HasSubstr("--also-json -: expected a file"));
}

TEST(Run, ShowsAllThatIsKnownOnlyWhenAsked) {
  const TestFolder folder;
  const std::string result = folder.path("r.json");
  const Ended brief = run_binary(small_run({"--json", result}));
  const std::string scenario = folder.write("v.conf", "verbose = true\n");
  EXPECT_THAT(brief.out, HasSubstr("\nmore with -vv: "));
  EXPECT_THAT(brief.out, Not(HasSubstr("\nqueue ready: ")));
  for (const Words& words : {small_run({"--verbose"}), small_run({"-v"}),
                             small_run({"--scenario", scenario}), Words{"report", result, "-v"}}) {
    const Ended all = run_binary(words);
    EXPECT_EQ(all.exit_code, 0) << all.err;
    EXPECT_THAT(all.out, HasSubstr("\nqueue ready: "));
    EXPECT_THAT(all.out, Not(HasSubstr("--verbose")));
  }
}

TEST(Run, PrintsOnlyJsonToStandardOutput) {
  const Ended ended = run_binary(small_run({"--json", "-"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(json::parse(ended.out).at("schema"), "loaderscope.run/1");
}

TEST(Run, AcceptsSameSettingsInScenarioAndFlags) {
  const TestFolder folder;
  const std::string path = folder.write("x.conf",
                                        "# expect: decode\nengine = model\ncompute = 12ms\ncost = "
                                        "decode=1ms\nworkers = 4\ncores = 4\nsteps = 100\n");
  const Ended with_file =
      run_binary({"run", "--scenario", path, "--workers", "2", "--cores", "8", "--json", "-"});
  const Ended with_flags = run_binary(small_run({"--json", "-"}));
  ASSERT_EQ(with_file.exit_code, 0) << with_file.err;
  EXPECT_EQ(json::parse(with_file.out).at("account"), json::parse(with_flags.out).at("account"));
}

TEST(Run, ChecksRequirementsOfScenario) {
  for (const char* name : {"kpi-gpu-busy", "kpi-samples-per-second"}) {
    const std::string path = std::string(LOADERSCOPE_SOURCE_DIR "/scenarios/") + name + ".conf";
    EXPECT_EQ(run_binary({"run", "--scenario", path}).exit_code, 0) << name;
    const Ended slower = run_binary({"run", "--scenario", path, "--cost", "decode=16ms"});
    EXPECT_EQ(slower.exit_code, 2) << name;
    EXPECT_THAT(slower.err, HasSubstr("is not met: it is ")) << name;
  }
}

TEST(Run, UsesLastOfRepeatedFlags) {
  const Ended ended = run_binary(small_run({"--workers", "1", "--json", "-"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(json::parse(ended.out).at("config").at("num_workers"), 1);
}

TEST(Run, RejectsImpossibleOutputsBeforeTheRun) {
  const TestFolder folder;
  // A run without end: it must not begin.
  const Words endless = {"run", "--compute", "1ns", "--steps", "10000000000"};
  for (const std::string& path :
       {folder.path("missing/r.json"), folder.path("."), std::string("/proc/r.json")}) {
    Words words = endless;
    words.insert(words.end(), {"--json", path});
    const Ended ended = run_binary(words);
    EXPECT_EQ(ended.exit_code, 1) << path;
    EXPECT_THAT(ended.err, HasSubstr(path));
    EXPECT_EQ(ended.out, "");
  }
}

TEST(Run, PrintsTableAndFailsIfDiskIsFull) {
  const Ended ended = run_binary(small_run({"--json", "/dev/full"}));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("/dev/full: cannot write the result (No space left on device)"));
  EXPECT_FALSE(ended.out.empty());
}

TEST(Run, SavesResultAndFailsIfStandardOutputIsFull) {
  const TestFolder folder;
  const Ended ended =
      RunningBinary(small_run({"--json", folder.path("r.json")}), "/dev/full").wait();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("standard output"));
  EXPECT_EQ(json::parse(folder.read("r.json")).at("schema"), "loaderscope.run/1");
}

TEST(Run, ReportsUnmetRequirementByExitCode) {
  EXPECT_EQ(run_binary(small_run({"--require", "device.busy > 0"})).exit_code, 0);
  const Ended not_met = run_binary(small_run({"--require", "device.busy >= 0.99"}));
  EXPECT_EQ(not_met.exit_code, 2);
  EXPECT_THAT(not_met.err, HasSubstr("device.busy"));
  EXPECT_FALSE(not_met.out.empty());
}

TEST(Run, ReportsWithheldValueByExitCode) {
  const Ended ended = run_binary(
      {"run", "--compute", "12ms", "--steps", "5", "--require", "verdict.bound_by == compute"});
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
}

class Interrupted : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Interrupted, WritesWhatWasMeasured) {
  const auto [signal, exit_code] = GetParam();
  const TestFolder folder;
  RunningBinary running({"run", "--compute", "1ms", "--cost", "decode=20us", "--workers", "2",
                         "--duration", "200000h", "--json", folder.path("r.json")});
  running.wait_until_it_catches(signal);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  ASSERT_FALSE(running.has_ended()) << running.wait().err;
  running.send(signal);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
  EXPECT_FALSE(ended.out.empty());
  const json result = json::parse(folder.read("r.json"));
  EXPECT_GT(result.at("window").at("steps"), 0);
  EXPECT_EQ(folder.files(), 1);
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupted,
                         testing::Values(std::pair{SIGINT, 130}, std::pair{SIGTERM, 143},
                                         std::pair{SIGHUP, 129}));

// One second of four in which nothing of it could run.
TEST(Run, ReportsTimeInWhichItWasStopped) {
  RunningBinary running({"run", "--device", "sim", "--compute", "10ms", "--cost",
                         "decode=1ms:sleep", "--batch", "1", "--warmup", "0", "--duration", "4s",
                         "--json", "-"});
  running.wait_until_it_catches(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  running.send(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  running.send(SIGCONT);
  const Ended ended = running.wait();
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json result = json::parse(ended.out);
  EXPECT_THAT(result.at("verdict").at("sentence").get<std::string>(),
              HasSubstr("of the window nothing of this program could run"));
  EXPECT_GT(result.at("host").at("standstill_s"), 0.5);
}

TEST(Report, ShowsASavedResultAgain) {
  const TestFolder folder;
  const std::string path = folder.path("r.json");
  const Ended run = run_binary(small_run({"--json", path}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Ended report = run_binary({"report", path});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_EQ(report.out, run.out);
  EXPECT_EQ(run_binary({"report", path, "--require", "device.busy >= 0.99"}).exit_code, 2);
  const Ended saved =
      run_binary({"report", path, "--format", "json", "--output", folder.path("again.json")});
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  EXPECT_EQ(json::parse(folder.read("again.json")), json::parse(folder.read("r.json")));
}

TEST(Report, ShowsLastUnsavedRun) {
  const TestFolder folder;
  const Environment cache("XDG_CACHE_HOME", folder.path("cache"));
  Ended reported = run_binary({"report", "last"});
  EXPECT_EQ(reported.exit_code, 1);
  EXPECT_THAT(reported.err, HasSubstr("last: no run's result is kept in the cache folder yet"));
  const Ended ended = run_binary(small_run());
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  reported = run_binary({"report", "last"});
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_EQ(reported.out, ended.out);
  namespace fs = std::filesystem;
  const fs::path kept = folder.path("cache/loaderscope/last.json");
  EXPECT_EQ(fs::status(kept).permissions(), fs::perms(0600));
  EXPECT_EQ(fs::status(kept.parent_path()).permissions(), fs::perms(0700));
  const Ended predicted = run_binary({"what-if", "last", "--set", "num-workers=4"});
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
}

TEST(Report, PrintsTheSchemaOfAKind) {
  const Ended schema = run_binary({"report", "--schema", "sweep"});
  EXPECT_EQ(schema.exit_code, 0) << schema.err;
  EXPECT_EQ(json::parse(schema.out).at("title"), "loaderscope.sweep/1");
}

TEST(Report, ReportsDamagedResult) {
  const TestFolder folder;
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("{\"schema\": \"x/1\"}"),
        std::string("\0\1\2", 3), std::string(100'000, '[')}) {
    const Ended ended = run_binary({"report", folder.write("r.json", text)});
    EXPECT_EQ(ended.exit_code, 1) << text.substr(0, 20);
    EXPECT_THAT(ended.err, HasSubstr(folder.path("r.json")));
  }
  EXPECT_EQ(run_binary({"report", folder.path("none.json")}).exit_code, 1);
  EXPECT_EQ(run_binary({"report", folder.path(".")}).exit_code, 1);
}

// Says why, wherever these tests run; where there is a GPU there is nothing to refuse.
TEST(Run, RejectsMissingGpuWithTheReason) {
  const Ended listed = run_binary({"list", "device"});
  const auto begin = listed.out.find("not available here: ");
  if (begin == listed.out.npos) GTEST_SKIP() << "there is a GPU here";
  const std::string reason =
      listed.out.substr(begin + 20, listed.out.find('\n', begin) - begin - 20);
  const Ended run =
      run_binary({"run", "--compute", "12ms", "--cost", "decode=1ms", "--device", "cuda"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("device = cuda: " + reason));
  const Ended probe = run_binary({"probe", "link"});
  EXPECT_EQ(probe.exit_code, 1);
  EXPECT_THAT(probe.err, HasSubstr(reason));
}

}  // namespace
}  // namespace loaderscope::testing_cli
