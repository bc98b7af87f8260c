// loaderscope run --against, and compare of two results: did a change help?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "environment.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kFaster =
    "Faster: 444 -> 889 samples/s (+100 %); the wait for decode fell from 50 % to 0 %\n";

// Runs in a cache folder of their own, with the short answer.
class Against : public testing::Test {
 protected:
  // A run of the model, which takes no time and gives the same answer each time.
  Ended run(const std::string& workers, const Words& more = {}) {
    Words words = {"run",     "--engine", "model",         "--cores",       "8",
                   "--steps", "100",      "--compute",     "36ms",          "--batch",
                   "32",      "--cost",   "decode=4500us", "--num-workers", workers};
    words.insert(words.end(), more.begin(), more.end());
    return run_binary(words);
  }

  const TestFolder folder_;

 private:
  Environment summary_{"LOADERSCOPE_SUMMARY", "compact"};
  Environment cache_{"XDG_CACHE_HOME", folder_.path("cache")};
};

TEST_F(Against, BeginsAnswerWithDifference) {
  run("2");
  const Ended after = run("8", {"--against", "last"});
  EXPECT_EQ(after.exit_code, 0) << after.err;
  EXPECT_THAT(after.out, StartsWith(kFaster));
  EXPECT_THAT(after.out, HasSubstr("\nWhy:   settings that differ: num-workers 2 -> 8\n"));
  EXPECT_THAT(after.out, HasSubstr("\nWhy:   GPU is busy 100 % of the time"));
}

TEST_F(Against, ReplacesLastResultAfterwards) {
  run("8");
  const Ended slower = run("2", {"--against", "last"});
  EXPECT_EQ(slower.exit_code, 0) << slower.err;
  EXPECT_THAT(slower.out, StartsWith("Slower: 889 -> 444 samples/s (-50 %); the wait for decode "
                                     "rose from 0 % to 50 %\n"));
  const Ended same = run("2", {"--against", "last"});
  EXPECT_THAT(same.out, StartsWith("No difference: 444 -> 444 samples/s"));
  EXPECT_THAT(same.out, Not(HasSubstr("settings that differ")));
}

TEST_F(Against, TakesFileAndSavesComparison) {
  const std::string before = folder_.path("before.json"), after = folder_.path("after.json");
  run("2", {"--json", before});
  const Ended ended = run("8", {"--against", before, "--json", after});
  const json against = json::parse(folder_.read("after.json"))["against"];
  EXPECT_EQ(against["verdict"], "better");
  EXPECT_EQ(against["earlier"], before);
  EXPECT_NEAR(against["change"]["mean"], 1.0, 0.01);
  EXPECT_NEAR(against["samples_per_s_before"], 444.4, 0.1);
  EXPECT_EQ(against["settings"], json::array({"num-workers 2 -> 8"}));
  EXPECT_EQ(run_binary({"report", after}).out, ended.out);
  EXPECT_THAT(run_binary({"report", after, "-v"}).out,
              AllOf(StartsWith("Faster: "), HasSubstr("num-workers 2 -> 8")));
  EXPECT_THAT(run_binary({"report", after, "--format", "html"}).out, HasSubstr("Faster: 444"));
  EXPECT_FALSE(json::parse(folder_.read("before.json")).contains("against"));
}

TEST_F(Against, FailsOnlyIfGateIsAsked) {
  run("8");
  const Words gate = {"--require", "against.verdict != worse", "--against", "last"};
  const Ended slower = run("2", gate);
  EXPECT_EQ(slower.exit_code, 2);
  EXPECT_THAT(slower.err, HasSubstr("against.verdict != worse' is not met: it is 'worse'"));
  EXPECT_EQ(run("8", gate).exit_code, 0);
  EXPECT_EQ(run("8", {"--require", "against.verdict != worse"}).exit_code, 3);
}

TEST_F(Against, SaysThatWorkIsNotAlike) {
  run("8");
  const Ended other = run("8", {"--against", "last", "--batch", "64", "--compute", "72ms"});
  EXPECT_THAT(other.out, HasSubstr("not alike: the batch size is 32 before and 64 now"));
}

TEST_F(Against, ClaimsNothingFromFewSteps) {
  const Words few = {"--steps", "5", "--against", "last"};
  run("2", {"--steps", "5"});
  EXPECT_THAT(run("8", few).out, StartsWith("No clear difference: "));
}

TEST_F(Against, RefusesWhatIsNoEarlierRunOfThisProgram) {
  const Words model = {"run", "--engine", "model", "--cost", "decode=1ms"};
  expect_refused(model, {{{"--against", "last"}, "last: no run's result is kept", 1},
                         {{"--against", folder_.path("none.json")}, "none.json", 1}});
  run("2");
  const std::string program = folder_.write("train_b.sh", "exit 0\n");
  expect_refused({"run", "--against", "last"},
                 {{{"--", "sh", program},
                   "--against last: that run was of the model, and this one is of sh",
                   1}});
}

TEST_F(Against, SaysThatReadOnlyHomeKeepsNoResult) {
  const Environment cache("XDG_CACHE_HOME", folder_.write("file", "") + "/cache");
  const Ended ended = run("2", {"--against", "last"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no run's result is kept, as the cache folder cannot be "
                                   "written; save a run with --json FILE"));
}

TEST_F(Against, GivesCompareTheSameFirstLine) {
  const std::string before = folder_.path("before.json");
  run("2", {"--json", before});
  run("8");
  const Ended compared = run_binary({"compare", before, "last"});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, StartsWith(kFaster));
  const Ended worse = run_binary({"compare", "last", before});
  EXPECT_EQ(worse.exit_code, 2);
  EXPECT_THAT(worse.out, StartsWith("Slower: 889 -> 444 samples/s"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
