// The default answer of a run: its Fix, the reason for it, and what it never leaves out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "loaderscope/findings.h"
#include "loaderscope/predict.h"
#include "report/answer/answers.h"
#include "report/answer/fix_words.h"
#include "report/answer/plain_figures.h"
#include "unit/predict/seen_program.h"

namespace loaderscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Runs of the model, with batches of 32 and steps of 40 ms if a test says nothing else.
struct Answered {
  RunRecord record;
  Analysis analysis;

  explicit Answered(const std::string& scenario) : record(modelled(scenario)) { analyse_again(); }

  void analyse_again() {
    analysis = analyse(record);
    add_findings(analysis, record);
  }
  std::string text() const {
    std::string lines;
    for (const std::string& line : answer_lines(answer_run(record, analysis))) lines += line + "\n";
    return lines;
  }
  const Finding* find(std::string_view id) const {
    for (const Finding& finding : analysis.findings)
      if (finding.id == id) return &finding;
    return nullptr;
  }
};

const std::string kFarStorage =
    "batch = 32\nworkers = 1\nstored-bytes = 4MB\nstorage-latency = 40ms\nqueue-depth = 8\n"
    "compute = 40ms\nwarmup = 8\nsteps = 80\n";
const std::string kFewCores =
    "batch = 4\nworkers = 8\ncores = 2\ncost = decode=10ms\ncompute = 10ms\nwarmup = 8\n"
    "steps = 80\n";

TEST(LineOneOfRun, NamesWhatProgramDecodes) {
  Answered run(
      "batch = 32\nworkers = 2\ncost = decode=10ms\ncompute = 40ms\nwarmup = 8\nsteps = 80\n");
  run.record = as_seen(std::move(run.record));
  run.analyse_again();
  EXPECT_THAT(run.text(), HasSubstr("decoding images is too slow"));
  run.record.metrics.push_back(make_metric("video.frames_decoded", "", 3'050));
  run.analyse_again();
  EXPECT_THAT(run.text(), HasSubstr("decoding video is too slow"));
}

TEST(FixOfRun, PrefersNumberOfWorkersToOtherCode) {
  const Answered run(kFarStorage);
  EXPECT_THAT(run.text(),
              HasSubstr("\nFix:   DataLoader(..., num_workers=4)           200 -> about "
                        "800 samples/s\n"));
  const Finding* fix = advised_fix(run.analysis);
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix->id, "storage-latency");
  EXPECT_EQ(changes_to_text(fix->to_run), "num-workers=4");
  EXPECT_EQ(fix->kind(), ChangeKind::setting);
}

TEST(FixOfRun, NamesFlagOfSettingThatNeedsOtherCode) {
  const Answered run(
      "batch = 10\nworkers = 4\nin-flight = 1\ncost = decode=1ms\ncost = launch=5ms:sleep\n"
      "compute = 10ms\nwarmup = 8\nsteps = 80\n");
  const Finding* fix = advised_fix(run.analysis);
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(changes_to_text(fix->to_run), "in-flight=2");
  EXPECT_EQ(fix->kind(), ChangeKind::rewriting);
  EXPECT_THAT(run.text(), HasSubstr("\nFix:   --in-flight 2; in PyTorch: no .item(), "));
}

TEST(FixOfRun, NamesNoFlagForMeasuredProgram) {
  Answered run(
      "batch = 10\nworkers = 4\nin-flight = 1\ncost = decode=1ms\ncost = launch=5ms:sleep\n"
      "compute = 10ms\nwarmup = 8\nsteps = 80\n");
  const Finding* fix = advised_fix(run.analysis);
  ASSERT_NE(fix, nullptr);
  run.record.engine = "torch";
  EXPECT_THAT(make_fix_line(run.record, run.analysis, *fix).text, StartsWith("no .item(), "));
}

TEST(FixOfRun, NamesCoresInsteadOfFewerWorkersWithoutGain) {
  const Answered run(kFewCores);
  EXPECT_THAT(run.text(),
              HasSubstr("\nFix:   a machine with 8 cores                   200 -> about "
                        "400 samples/s\n"));
  EXPECT_THAT(run.text(), HasSubstr(";\n       num_workers=2 would be as fast\n"));
  const Finding* fewer = run.find("too-many-workers");
  ASSERT_NE(fewer, nullptr);
  EXPECT_NEAR(fewer->gain(), 0, 0.01);
  EXPECT_FALSE(fewer->is_worth_doing());
}

// Each of two causes hides the other, so the fix of one gains less than 5 %.
TEST(FixOfRun, GivesSettingWithSmallGainIfNoOtherGainsMore) {
  const Answered run(
      "batch = 64\nstored-bytes = 110KB\ncompute = 25600us\nworkers = 32\nmemory = pageable\n"
      "copy = async\nlink = 25/8\ncores = 16\nstorage-latency = 8ms\nstorage-bandwidth = 500MB/s\n"
      "cost = decode=lognormal:3ms:0.5\ncost = augment=lognormal:3ms:0.5\n"
      "cost = pin=10GB/s\nwarmup = 64\nsteps = 288\n");
  const Finding* fix = advised_fix(run.analysis);
  ASSERT_NE(fix, nullptr);
  EXPECT_TRUE(fix->is_chief);
  EXPECT_FALSE(fix->is_worth_doing());
  EXPECT_GT(fix->gain(), 0.02);
  EXPECT_THAT(run.text(), HasSubstr("\nFix:   DataLoader(..., pin_memory=True)  "));
  EXPECT_THAT(run.text(), HasSubstr(" -> about "));
  EXPECT_THAT(run.text(), Not(HasSubstr("gain unknown")));
}

// The prediction is about the change that the Fix names.
TEST(FixOfRun, NamesCopyStreamOnlyIfItIsPartOfTheChange) {
  const std::string costs =
      "batch = 8\nworkers = 4\nmemory = pageable\ncost = h2d=6ms\ncompute = 25ms\nsteps = 60\n";
  const Answered both(costs);
  ASSERT_NE(both.find("pageable-copies"), nullptr);
  EXPECT_EQ(changes_to_text(both.find("pageable-copies")->changes),
            "memory=pin-thread copy=stream");
  EXPECT_THAT(both.find("pageable-copies")->pytorch, HasSubstr("torch.cuda.stream"));
  const Answered one(
      "batch = 8\nworkers = 4\nmemory = pageable\nlink = 100/0.05\ndelivered-bytes = 100KB\n"
      "cost = decode=1ms\ncompute = 25ms\nsteps = 60\n");
  ASSERT_NE(one.find("pageable-copies"), nullptr);
  EXPECT_EQ(changes_to_text(one.find("pageable-copies")->changes), "memory=pin-thread");
  EXPECT_EQ(one.find("pageable-copies")->pytorch, "DataLoader(..., pin_memory=True)");
}

// Line 1 and Why name one cause, whatever the verdict and the fix say.
TEST(ReasonOfFix, ComparesLongestBarOnlyWithCauseOfLine1) {
  Analysis analysis;
  analysis.verdict.candidates = {Cause::decode};
  analysis.verdict.hidden = Cause::h2d;
  analysis.removals.list = {{{Cause::decode}, 0.2}, {{Cause::read}, 0.1}, {{Cause::h2d}, 0.05}};
  Finding fix;
  fix.id = "storage-latency";
  fix.evidence = "reads wait 5 ms each; and more";
  EXPECT_EQ(reason_text(analysis, fix, Cause::decode),
            "without h2d 5 % of the time would be gained, without decode 20 % of the time");
  EXPECT_EQ(reason_text(analysis, fix, Cause::read),
            "without h2d 5 % of the time would be gained, without read 10 % of the time");
  // No gain is larger than that of the longest bar, which needs no explanation then.
  for (const auto& word : Words<Cause>::table()) {
    if (word.value == Cause::decode || word.value == Cause::read) continue;
    EXPECT_EQ(reason_text(analysis, fix, word.value), "reads wait 5 ms each") << word.name;
  }
  EXPECT_EQ(reason_text(analysis, fix, std::nullopt), "reads wait 5 ms each");
}

TEST(ReasonOfFix, UsesCauseThatFixRemoves) {
  Analysis analysis;
  analysis.verdict.candidates = {Cause::decode};
  Finding fix;
  fix.id = "storage-latency";
  const RunRecord record = modelled(kFarStorage);
  EXPECT_EQ(named_cause(record, analysis, nullptr), Cause::decode);
  EXPECT_EQ(named_cause(record, analysis, &fix), Cause::decode);
  fix.removes = Cause::read;
  fix.rate_before = 1;
  fix.rate_after = 2;
  EXPECT_EQ(named_cause(record, analysis, &fix), Cause::read);
  fix.id = "order-stall";  // line 1 describes this finding
  EXPECT_EQ(named_cause(record, analysis, &fix), std::nullopt);
  EXPECT_EQ(named_finding(record, &fix), "finished batches wait for a late one");
  analysis.verdict.candidates = {Cause::decode, Cause::read};
  EXPECT_EQ(named_cause(record, analysis, nullptr), std::nullopt);
}

TEST(SkippedSamplesOfRun, NamesThemInEveryAnswer) {
  for (const std::string& scenario :
       {kFarStorage, kFewCores,
        std::string("workers = 4\ncost = decode=10us\ncompute = 40ms\nsteps = 60\n")}) {
    Answered run(scenario);
    EXPECT_THAT(run.text(), Not(HasSubstr("skipped")));
    run.record.skipped = {
        26, {{"truncated", 18}, {"not_allowed", 8}}, {"a.jpg: ends", "b.jpg: no"}};
    EXPECT_THAT(run.text(), HasSubstr("\nAlso:  2 samples were skipped: not allowed, truncated "
                                      "(-vv names them)"));
    run.record.skipped = {1, {{"damaged", 1}}, {"a.jpg: its data are damaged"}};
    EXPECT_THAT(run.text(), HasSubstr("\nAlso:  1 sample was skipped: damaged (-vv names it)"));
    run.record.skipped = {500, {{"damaged", 500}}, std::vector<std::string>(10, "a.jpg: damaged")};
    EXPECT_THAT(run.text(), HasSubstr("\nAlso:  at least 10 samples were skipped: damaged (-vv "));
  }
}

TEST(TechnicalWords, AllowsPartOfId) {
  EXPECT_TRUE(has_technical_word("the depth of the queue"));
  EXPECT_TRUE(has_technical_word("--prefetch-depth is the depth"));
  EXPECT_FALSE(has_technical_word("--task sample --prefetch-depth 8"));
}

TEST(AnswerLines, KeepsNeededBeginOfAlso) {
  Answer answer;
  answer.headline = "GPU waits";
  AnswerLine also{"Also", "two were skipped; a faster decoder"};
  also.needed = std::string_view("two were skipped").size();
  answer.last = {also, {"More", "-v"}};
  EXPECT_THAT(
      answer_lines(answer),
      ElementsAre("GPU waits", "", "Also:  two were skipped; a faster decoder", "More:  -v"));
  for (int i = 0; i < 12; ++i) answer.bars.push_back({"part " + std::to_string(i), 0.1});
  const std::vector<std::string> lines = answer_lines(answer);
  EXPECT_LE(lines.size(), kMaxAnswerLines);
  EXPECT_THAT(lines, testing::Contains("Also:  two were skipped"));
}

// The settings that differ end with a command, which is longer than the answer.
TEST(AnswerLines, KeepsNeededBeginOfWhy) {
  Answer answer;
  answer.headline = "Faster";
  AnswerLine why{"Why", "settings that differ: ranks 1 -> 2, command " + std::string(90, 'a')};
  why.needed = std::string_view("settings that differ: ranks 1 -> 2").size();
  answer.first = {{"Fix", "num_workers=2"}, {"Why", "it makes every batch itself"}, why};
  for (int i = 0; i < 4; ++i) answer.first.push_back({"Next", "step " + std::to_string(i)});
  answer.bars = {{"compute", 0.4}, {"read", 0.3}, {"decode", 0.3}};
  EXPECT_THAT(answer_lines(answer), testing::Contains("Why:   settings that differ: ranks 1 -> 2"));
}

TEST(AnswerLines, KeepsIndentOfShortenedBar) {
  Answer answer;
  answer.headline = "GPU waits";
  answer.bars = {
      {"own code", 0.6, "Photos.__getitem__ (train_all_images.py:5), load_image (x.py:6)"}};
  const std::vector<std::string> lines = answer_lines(answer);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[2], testing::StartsWith("  own code   60 %  ###"));
  EXPECT_THAT(lines[2], testing::EndsWith(" ..."));
  EXPECT_LE(lines[2].size(), 84U);
}

}  // namespace
}  // namespace loaderscope
