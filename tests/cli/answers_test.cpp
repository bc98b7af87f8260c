// The default answer: its size and labels in every scenario, and what it says in known situations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include "cli/run_binary.h"
#include "environment.h"
#include "report/answer/answer.h"
#include "report/answer/plain_figures.h"

namespace loaderscope::testing_cli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DefaultAnswer : public ::testing::Test {
 protected:
  Ended answer(const Words& words) { return run_binary(words); }
  // A run of the model, which takes no time and gives the same answer each time.
  Ended model(Words words) {
    Words all = {"run", "--engine", "model", "--device", "sim", "--steps", "200", "--cores", "2"};
    all.insert(all.end(), words.begin(), words.end());
    return run_binary(all);
  }

 private:
  Environment summary_{"LOADERSCOPE_SUMMARY", "compact"};
};

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool is_command_to_paste(const std::string& line) { return line.find("loaderscope ") != line.npos; }

void expect_budget(const std::string& text) {
  const std::vector<std::string> lines = split_lines(text);
  EXPECT_LE(lines.size(), kMaxAnswerLines) << text;
  std::size_t figures = 0;
  for (const std::string& line : lines) {
    figures += count_figures(line);
    if (!is_command_to_paste(line)) {
      EXPECT_LE(count_columns(line), std::size_t{80}) << line;
    }
    static const std::regex label("^([A-Z][A-Za-z ]*):.*");
    std::smatch found;
    if (&line != &lines.front() && std::regex_match(line, found, label)) {
      EXPECT_THAT(found[1].str(), AnyOf("Wrong data", "Fix", "Next", "Why", "Also", "More"))
          << line;
    }
    // The id of a finding may have such a word.
    EXPECT_FALSE(has_technical_word(line.substr(0, line.find("Learn: ")))) << line;
  }
  EXPECT_LE(figures, kMaxAnswerFigures) << text;
}

TEST_F(DefaultAnswer, FitsInEveryScenario) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(LOADERSCOPE_SOURCE_DIR "/scenarios"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const Ended ended = answer({"run", "--scenario", file});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    expect_budget(ended.out);
  }
}

TEST_F(DefaultAnswer, NamesFixAndGainOfSlowDecoding) {
  const Ended ended = model(
      {"--cost", "decode=0.8ms", "--compute", "36ms", "--workers", "1", "--batch-size", "64"});
  EXPECT_THAT(ended.out,
              StartsWith("GPU waits 30 % of the time: decoding images is too slow (simulated GPU)\n"
                         "Fix:   DataLoader(..., num_workers=2)"));
  EXPECT_THAT(ended.out, HasSubstr(" -> about 1,780 samples/s\n"));
  EXPECT_THAT(ended.out, HasSubstr("\n  compute  "));
  EXPECT_THAT(ended.out, HasSubstr("Learn: explain "));
}

TEST_F(DefaultAnswer, SaysThatNothingNeedsFixingIfTheGpuIsBusy) {
  const Ended ended = model({"--cost", "decode=0.1ms", "--compute", "36ms", "--workers", "2"});
  EXPECT_THAT(ended.out, StartsWith("GPU is busy 100 % of the time: the loader keeps up "
                                    "(simulated GPU)\nFix:   nothing; "));
}

TEST_F(DefaultAnswer, PrintsTwoLinesAfterTooFewSteps) {
  const Ended ended = model({"--steps", "10", "--cost", "decode=1ms", "--compute", "36ms"});
  EXPECT_EQ(split_lines(ended.out).size(), 2u) << ended.out;
  EXPECT_THAT(ended.out, StartsWith("No verdict: the run has 10 of the 20 steps"));
  EXPECT_THAT(ended.out, HasSubstr("\nNext:  loaderscope run "));
}

TEST_F(DefaultAnswer, NamesRankThatHoldsUpTheOthers) {
  const Ended ended =
      model({"--ranks", "4", "--sync-ranks", "--workers", "1", "--batch-size", "8", "--cores", "8",
             "--cost", "decode=0.1ms", "--inject", "read=+5ms@rank=2", "--compute", "4ms"});
  EXPECT_THAT(ended.out, StartsWith("Rank 2 holds up all 4 GPUs: they wait "));
  EXPECT_THAT(ended.out, HasSubstr("\n  0, 1, 3 "));
  EXPECT_THAT(ended.out, Not(HasSubstr("num_workers")));
}

TEST_F(DefaultAnswer, PrefersDeeperPrefetchToAnotherOrderOfBatches) {
  const Ended ended = answer(
      {"run", "--scenario", LOADERSCOPE_SOURCE_DIR "/scenarios/one-slow-sample-in-200.conf"});
  EXPECT_THAT(ended.out, HasSubstr("\nFix:   DataLoader(..., prefetch_factor=8) "));
  EXPECT_THAT(ended.out, HasSubstr("\nAlso:  DataLoader(..., in_order=False) gives about 800 "
                                   "samples/s, but the order\n       of batches changes; "));
}

TEST_F(DefaultAnswer, SaysWhatIsPerRankAndPerGpu) {
  const Ended ended = model({"--ranks", "8", "--cores", "32", "--cost", "decode=4ms", "--compute",
                             "36ms", "--workers", "2"});
  EXPECT_THAT(ended.out, HasSubstr("\nFix:   DataLoader(..., num_workers=4) # per rank"));
  EXPECT_THAT(ended.out, HasSubstr("138 GPU-hours a day are lost now (17 per GPU)\n"));
}

TEST_F(DefaultAnswer, PrintsCodeThatCopiesAhead) {
  const Ended ended =
      answer({"run", "--scenario", LOADERSCOPE_SOURCE_DIR "/scenarios/pinned-copies.conf"});
  EXPECT_THAT(ended.out, HasSubstr("\nFix:   copy the next batch during the step, with "
                                   "torch.cuda.stream(side):\n       next_batch.to(device, "
                                   "non_blocking=True)  4,780 -> about 5,330 samples/s\n"));
}

// The same number in the fix, in what-if and in what --try runs.
TEST_F(DefaultAnswer, PromisesWhatWhatIfPredicts) {
  const TestFolder folder;
  const std::string result = folder.path("r.json");
  const Ended run = model({"--cost", "decode=0.8ms", "--compute", "36ms", "--workers", "1",
                           "--batch-size", "64", "--json", result});
  static const std::regex figures("num_workers=2\\)\\s+([0-9,]+) -> about ([0-9,]+) samples/s");
  std::smatch run_match, what_if_match;
  ASSERT_TRUE(std::regex_search(run.out, run_match, figures)) << run.out;
  const Ended what_if = answer({"what-if", result, "--set", "num-workers=2"});
  static const std::regex line("num_workers=2: ([0-9,]+) -> about ([0-9,]+) samples/s");
  ASSERT_TRUE(std::regex_search(what_if.out, what_if_match, line)) << what_if.out;
  EXPECT_EQ(run_match[1].str(), what_if_match[1].str());
  EXPECT_EQ(run_match[2].str(), what_if_match[2].str());
}

TEST_F(DefaultAnswer, AddsLinesWithEachVerboseFlag) {
  const Words words = {"--cost", "decode=0.8ms", "--compute", "36ms", "--workers", "1"};
  const auto rows = [&](const char* flag) {
    Words all = words;
    if (*flag != '\0') all.emplace_back(flag);
    return split_lines(model(all).out).size();
  };
  EXPECT_LT(rows(""), rows("-v"));
  EXPECT_LT(rows("-v"), rows("-vv"));
  EXPECT_EQ(rows("-v"), rows("--summary=full"));
}

TEST_F(DefaultAnswer, RepeatsAnswerOfSavedResult) {
  const TestFolder folder;
  const std::string result = folder.path("r.json");
  const Ended run = model({"--cost", "decode=0.8ms", "--compute", "36ms", "--json", result});
  EXPECT_EQ(answer({"report", result}).out, run.out);
}

TEST(Summary, RejectsUnknownWord) {
  EXPECT_THAT(run_binary({"report", "last", "--summary", "short"}).err,
              HasSubstr("--summary: expected compact or full"));
}

TEST(Newcomer, ReadsOverviewWithoutWords) {
  const Ended ended = run_binary({});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.out, StartsWith("loaderscope finds out why a GPU waits for its data"));
}

TEST(Newcomer, GetsHintForProgramWithoutDashes) {
  for (const Words& words : {Words{"run", "train.py"}, Words{"run", "python", "train.py"},
                             Words{"python", "train.py"}, Words{"train.py"}}) {
    const Ended ended = run_binary(words);
    EXPECT_EQ(ended.exit_code, 64);
    EXPECT_THAT(ended.printed, HasSubstr(": a program comes after \"--\"\n"
                                         "hint: loaderscope run -- python train.py\n"));
  }
}

TEST(Newcomer, ReadsShortHelpOfEveryCommand) {
  for (const char* command : {"run", "tune", "sweep", "compare", "what-if", "plan", "watch",
                              "diagnose", "probe", "selftest", "report", "merge", "data"}) {
    const std::vector<std::string> lines = split_lines(run_binary({command, "--help"}).out);
    EXPECT_LE(lines.size(), 80u) << command;
    for (const std::string& line : lines) EXPECT_LE(count_columns(line), 80u) << command << line;
  }
}

}  // namespace
}  // namespace loaderscope::testing_cli
