// loaderscope sweep and tune, from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Each batch takes 32 ms of decoding and 12 ms of the GPU: three workers keep it busy.
Words modelled(const std::string& command, const Words& more) {
  Words words = {command, "--engine", "model", "--cost",  "decode=8ms", "--compute",
                 "12ms",  "--batch",  "4",     "--cores", "8"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(SweepCommand, PutsTheBestAndTheKneeFirst) {
  const Ended ended =
      run_binary(modelled("sweep", {"-L", "workers=1,2,3,4", "--vary", "prefetch=1,2"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("num-workers=3 prefetch-factor=1 gives the most: 333 samples/s "
                                    "(±0), 100.0 % busy; 3 others may\n  be as fast\n"));
  EXPECT_THAT(ended.out, HasSubstr("<- knee, best"));
  EXPECT_THAT(ended.out, HasSubstr("workers \\ prefetch"));
  EXPECT_THAT(ended.out, HasSubstr("# compute, d decode"));
}

TEST(SweepCommand, TakesItsFlagsFromAScenarioToo) {
  const TestFolder folder;
  const std::string file = folder.write("grid.conf",
                                        "engine = model\ncost = decode=8ms\ncompute = 12ms\n"
                                        "batch = 4\ncores = 8\nvary = workers=1,2\n"
                                        "vary = prefetch=1,2\nbudget = 1m\none-at-a-time = true\n");
  const Ended ended = run_binary({"sweep", "--scenario", file, "--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json answer = json::parse(ended.out);
  EXPECT_EQ(answer.at("axes").size(), 2U);
  EXPECT_EQ(answer.at("one_at_a_time"), true);
  const Ended typo = run_binary({"sweep", "--scenario", folder.write("x.conf", "varies = a\n")});
  EXPECT_EQ(typo.exit_code, 64);
  EXPECT_THAT(typo.err, HasSubstr("x.conf:1: varies: unknown key"));
  EXPECT_THAT(run_binary({"run", "--scenario", file}).err, HasSubstr("vary: unknown key"));
}

TEST(SweepCommand, ResumesSavedSweep) {
  const TestFolder folder;
  const std::string path = folder.path("s.json");
  const Words axis = {"-L", "workers=1,2,3", "--json", path};
  Words brief = axis;
  brief.insert(brief.end(), {"--budget", "2s"});
  ASSERT_EQ(run_binary(modelled("sweep", brief)).exit_code, 0);
  const json before = json::parse(folder.read("s.json"));
  Words resumed = axis;
  resumed.insert(resumed.end(), {"--resume", path});
  ASSERT_EQ(run_binary(modelled("sweep", resumed)).exit_code, 0);
  const json after = json::parse(folder.read("s.json"));
  EXPECT_EQ(before.at("budget_spent"), true);
  EXPECT_EQ(after.at("budget_spent"), false);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(after.at("cases").at(i).at("runs").size(), 2U);
    const json& old_runs = before.at("cases").at(i).at("runs");
    for (std::size_t r = 0; r < old_runs.size(); ++r)
      EXPECT_EQ(after.at("cases").at(i).at("runs").at(r), old_runs.at(r));
  }
  const Ended other = run_binary(modelled("sweep", {"-L", "workers=1,2", "--resume", path}));
  EXPECT_EQ(other.exit_code, 64);
  EXPECT_THAT(other.err, HasSubstr("--vary num-workers is 1 2 3 there and 1 2 here"));
}

TEST(SweepCommand, KeepsItsRunsWhenInterrupted) {
  const TestFolder folder;
  const std::string path = folder.path("s.json");
  RunningBinary sweep({"sweep", "--cost", "decode=2ms:sleep", "--compute", "4ms", "--batch", "2",
                       "-L", "workers=1,2", "--steps", "25", "--precision", "0.0001", "--budget",
                       "1h", "--json", path});
  // The file is there, empty, before the first run: that it can be written is found out first.
  while (!sweep.has_ended() && (folder.files() == 0 || folder.read("s.json").empty())) {
  }
  sweep.send(SIGINT);
  const Ended ended = sweep.wait();
  EXPECT_EQ(ended.exit_code, 130) << ended.err;
  const json answer = json::parse(folder.read("s.json"));
  EXPECT_EQ(answer.at("interrupted"), true);
  EXPECT_THAT(ended.out, HasSubstr(" gives the most: "));
}

TEST(SweepCommand, FailsWithTheCommonestReason) {
  const Ended ended =
      run_binary({"sweep", "--data", "/nonexistent/photos", "--budget", "5s", "-L", "workers=1,2"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no case could be run: "));
  EXPECT_THAT(ended.err, HasSubstr("/nonexistent/photos"));
}

TEST(SweepCommand, SkipsCasesBeyondTheBudget) {
  const Ended ended =
      run_binary({"sweep", "--engine", "model", "--workers", "2", "--cores", "4", "--batch", "8",
                  "--cost", "decode=1ms", "--budget", "10s", "-L", "compute=1ms,10s"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("Skipped compute=10s: a run takes about 4.167 min (25 steps of "
                                   "10.00 s), more than is left of the"));
}

TEST(SweepCommand, VariesTheLengthOfARunToo) {
  const Ended ended = run_binary(modelled("sweep", {"-L", "steps=50,500", "--json", "-"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json answer = json::parse(ended.out);
  for (const json& one : answer.at("cases")) {
    for (const json& run : one.at("runs"))
      EXPECT_EQ(std::to_string(run.at("steps").get<int>()),
                one.at("settings").at("steps").get<std::string>());
  }
}

TEST(SweepCommand, MapsWhatHasNoWorkersOnEitherAxis) {
  const Ended ended =
      run_binary(modelled("sweep", {"-L", "prefetch=1,2", "--vary", "workers=0,1,2"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, ContainsRegex("prefetch . workers +0 +1 +2\n"));
}

TEST(TuneCommand, SaysWhatNothingFitsInto) {
  const Ended ended = run_binary(modelled("tune", {"--max-memory", "1KB"}));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no setting could be run: slots take "));
  EXPECT_THAT(ended.err, HasSubstr("more than the 1.00 KB of --max-memory"));
}

TEST(TuneCommand, SavesResultThatCannotBePrinted) {
  const TestFolder folder;
  const std::string saved = folder.path("t.json");
  RunningBinary running(modelled("tune", {"--json", saved}), "/dev/full");
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("standard output: "));
  const Ended next = run_binary({"tune", "--from", saved});
  EXPECT_THAT(next.err, HasSubstr("loaderscope.tune/1"));  // the saved file is complete
}

TEST(TuneCommand, CallsForWhatWasMeasured) {
  const Ended ended = run_binary(
      modelled("tune", {"--executor", "processes", "--no-in-order", "-L", "workers=2,3"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("in_order=False)"));
  EXPECT_THAT(ended.out, Not(HasSubstr("persistent_workers=True)")));
  const Ended shared = run_binary(modelled("tune", {"--task", "sample", "--workers", "4", "-L",
                                                    "prefetch-depth=8", "--memory", "pageable"}));
  ASSERT_EQ(shared.exit_code, 0) << shared.err;
  EXPECT_THAT(shared.out, HasSubstr("prefetch_factor=2"));
}

TEST(TuneCommand, PutsSettingFirstAndThenCallToPaste) {
  const Ended ended = run_binary(modelled("tune", {}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("Use num-workers=3 prefetch-factor=1 memory=pageable: 100.0 % "
                                    "busy"));
  EXPECT_THAT(ended.out, HasSubstr("DataLoader(ds, batch_size=4, num_workers=3, prefetch_factor=1, "
                                   "persistent_workers=True)"));
  EXPECT_THAT(ended.out, Not(HasSubstr("pipeline_def")));
  EXPECT_THAT(ended.out, HasSubstr("use ->"));
  EXPECT_THAT(ended.out, HasSubstr("The limit is the GPU"));
  EXPECT_THAT(ended.out, HasSubstr("settings run"));
  EXPECT_THAT(ended.out, HasSubstr("Next: loaderscope run "));
}

// Reads of 8 ms on two cores: 8 workers are the fewest that hide them, more than twice the cores.
TEST(TuneCommand, FindsWorkersThatWaitBeyondTheCores) {
  const Words words = {"tune",   "--engine",       "model",  "--cores",    "2",
                       "--cost", "read=8ms:sleep", "--cost", "decode=1ms", "--compute",
                       "20ms",   "--batch",        "16"};
  const Ended ended = run_binary(words);
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("Use num-workers=8 "));
  EXPECT_THAT(ended.out, HasSubstr("800 samples/s"));
  EXPECT_THAT(ended.out, ContainsRegex("\n *now +2 +2 "));
  EXPECT_THAT(ended.out, Not(HasSubstr("Next step up: num-workers")));
  Words capped = words;
  capped.insert(capped.end(), {"--max-workers", "4"});
  const Ended so_far = run_binary(capped);
  ASSERT_EQ(so_far.exit_code, 0) << so_far.err;
  EXPECT_THAT(so_far.out, HasSubstr("the best so far: "));
  EXPECT_THAT(so_far.out, Not(HasSubstr("proven within")));
}

TEST(TuneCommand, SavesTheAnswer) {
  const Ended ended = run_binary(modelled("tune", {"--json", "-"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json answer = json::parse(ended.out);
  EXPECT_EQ(answer.at("schema"), "loaderscope.tune/1");
  EXPECT_EQ(answer.at("recommendation").at("workers"), 3);
  EXPECT_EQ(answer.at("recommendation").at("prefetch"), 1);
  EXPECT_EQ(answer.at("recommendation").at("memory"), "pageable");
  EXPECT_EQ(answer.at("recommendation").at("proven"), true);
  EXPECT_NEAR(answer.at("best").at("samples_per_s").at("mean").get<double>(), 333.3, 0.1);
  EXPECT_EQ(answer.at("limit").at("bound_by"), "compute");
}

TEST(TuneCommand, TunesASavedRun) {
  const TestFolder folder;
  const std::string path = folder.path("r.json");
  ASSERT_EQ(run_binary(modelled("run", {"--workers", "1", "--json", path})).exit_code, 0);
  const Ended ended = run_binary({"tune", "--from", path});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith("Use num-workers=3 prefetch-factor=1 memory=pageable"));
}

// Letters as a terminal shows them.
std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0, columns = 0;
  for (const char c : text) {
    if (c == '\n') {
      longest = std::max(longest, columns);
      columns = 0;
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      ++columns;
    }
  }
  return longest;
}

TEST(SweepAndTune, LimitsLinesTo100Columns) {
  for (const Words& words :
       {modelled("sweep", {"-L", "workers=1,2", "-L", "memory=pageable,pinned-slots"}),
        modelled("tune", {})}) {
    const Ended ended = run_binary(words);
    const auto next = ended.out.find("Next: ");  // a command is not broken
    EXPECT_LE(longest_line(ended.out.substr(0, next)), 100U) << ended.out;
  }
}

TEST(SweepAndTune, RejectsInOneSentence) {
  for (const Refused& refused : std::vector<Refused>{
           {modelled("sweep", {}), "give an axis"},
           {modelled("sweep", {"-L", "worker=1"}), "did you mean 'workers'?"},
           {modelled("sweep", {"-L", "workers="}), "the list is empty"},
           {modelled("sweep", {"-L", "workers=1,x"}), "expected a whole number"},
           {modelled("sweep", {"-L", "workers=1", "--budget", "0s"}), "--budget 0s"},
           {modelled("sweep", {"-L", "workers=1", "--budget", "1ms"}), "too short for one case"},
           {modelled("sweep", {"-L", "workers=1", "--precision", "3"}), "expected a share"},
           {modelled("sweep", {"-L", "workers=1", "--resume", "/nonexistent"}), "no such file", 1},
           {modelled("sweep", {"-L", "workers=1", "--require", "device.busy > 0"}), "--require"},
           {modelled("sweep", {"-L", "workers=1", "--prove"}), "--prove"},
           {modelled("sweep", {"-L", "workers=1", "-L", "workers=2"}), "is given twice"},
           {modelled("tune", {"--goal", "0.9"}), "expected gpu: and a share"},
           {modelled("tune", {"--goal", "gpu:0.9", "--within", "3%"}), "contradicts --goal"},
           {modelled("tune", {"--budget", "1ms"}), "too short for one case"},
           {modelled("tune", {"--max-memory", "1"}), "no setting could be run", 1},
           {modelled("tune", {"--from", "/nonexistent"}), "the result says what the base case is"},
           {{"tune", "--from", "/nonexistent"}, "there is no such file", 1},
           {{"tune", "--cost", "decode=1ms", "--goal", "gpu:0.9"}, "give --compute"},
       }) {
    const Ended ended = run_binary(refused.words);
    EXPECT_EQ(ended.exit_code, refused.exit_code) << refused.message << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(refused.message));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

TEST(SweepCommand, ComparesDataSetsOnTheirFlags) {
  const TestFolder folder;
  const std::string photos = folder.path("photos"), shards = folder.path("shards");
  ASSERT_EQ(run_binary({"data", "make", photos, "--count", "64", "--size", "40x30"}).exit_code, 0);
  ASSERT_EQ(run_binary({"data", "pack", photos, shards}).exit_code, 0);
  const Ended ended = run_binary({"sweep", "--data", photos, "--data", "tar:" + shards, "--cache",
                                  "warm,as-is", "--device", "null", "--num-workers", "1",
                                  "--batch-size", "4", "--budget", "5s", "--json", "-"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const json answer = json::parse(ended.out);
  EXPECT_EQ(answer.at("axes").at("data").size(), 2U);
  EXPECT_EQ(answer.at("axes").at("cache").size(), 2U);
  EXPECT_EQ(answer.at("cases").size(), 4U);
  EXPECT_GT(answer.at("cases").at(0).at("runs").at(0).at("reading").at("per_sample_s"), 0);
  ASSERT_EQ(answer.at("data").size(), 2U);
  EXPECT_EQ(answer.at("data").at(1).at("samples"), 64);
  EXPECT_GT(answer.at("data").at(1).at("disk_bytes"), 0);
  const Ended twice = run_binary({"sweep", "--data", photos, "--data", photos});
  EXPECT_EQ(twice.exit_code, 64);
  EXPECT_THAT(twice.err, HasSubstr("is given twice"));
  const Ended wrong = run_binary({"sweep", "--data", photos, "--cache", "cold,hot"});
  EXPECT_EQ(wrong.exit_code, 64);
  EXPECT_THAT(wrong.err, HasSubstr("hot"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
