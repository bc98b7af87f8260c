// Checks that the short output of `run` fits a screen with any record.
#include "report/text_report.h"
#include "report/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/writers.h"
#include "unit/report/sample_finding.h"
#include "unit/report/sample_record.h"
#include "unit/report/screen_rows.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string short_table(const RunRecord& record, const Analysis& analysis) {
  std::ostringstream out;
  write_table(out, make_result(record, analysis), {});
  return out.str();
}

TEST(ShortTable, WritesAnswerFixAccountStagesAndNextCommand) {
  const RunRecord record = full_record();
  Analysis analysis = analysis_with(record, {{"num-workers", "4"}});
  analysis.findings.push_back(sample_finding({{"batch-size", "8"}}));
  analysis.findings.back().id = "per-batch-overhead";
  EXPECT_EQ(
      short_table(record, analysis),
      R"(Simulated: the GPU waits 75.0 % of the time (±0.0), mostly for decode (60.0 %): the workers never rest
Fix: num-workers=4 -> 25.0 % to 50.0 % busy, 160 to 320 samples/s, an epoch 6.667 min to 3.333 min.
  18.0 GPU-hours a day are lost now
PyTorch: DataLoader(..., num_workers=4)
Why: 2 workers never rest (too-few-workers)
160 samples/s (±0); step 100.0 ms, p99 100.0 ms; reads 17.6 MB/s; delivers 96.3 MB/s
40 steps after 4 of warm-up, steady; 4.000 s of virtual time; an epoch of 64,000 samples takes
  6.667 min
  GPU time  per step   share  95 %
  compute   25.00 ms  25.0 %  ±0.0  #########
  decode    60.00 ms  60.0 %  ±0.0  ######################
  read      15.00 ms  15.0 %  ±0.0  #####
Waiting for batches takes 75.0 % of the time: capacity 100.0 % of that
  stage   count      mean       p50       p99       max   CPU  no core  blocked       rate
  read      640  750.0 us  750.0 us  750.0 us  750.0 us   0 %             100 %   147 MB/s
  decode    640  6.000 ms  6.000 ms  6.000 ms  6.000 ms  83 %      8 %      8 %  18.3 MB/s
The model gives the base case's rate -1.2 %, decode +0.8 points
- prefetch-factor has no effect
- no epoch ended within the window, so what restarting the workers costs was not seen
more with -vv: finding per-batch-overhead; first batch; 2 metrics; explain too-few-workers
saved out/r 50.json
Next: loaderscope run --samples 64000 --num-workers 2 --batch-size 16 --compute 25ms --try
)");
}

// Every cause has a share, every stage took time, and each thing that can be said is said at
// length.
RunRecord crowded_record(int ranks) {
  StepPlan plan = make_step_plan(25 * kMillisecond, {});
  Nanos stall = 40 * kMillisecond;
  for (const auto& word : Words<Cause>::table()) {
    if (word.value != Cause::other) plan.stall[word.value] = stall = stall * 9 / 10;
  }
  plan.why = {10 * kMillisecond, 10 * kMillisecond, 5 * kMillisecond, 5 * kMillisecond};
  RunRecord record = make_run_record(4, 40, [&](std::int64_t) { return plan; });
  for (int rank = 1; rank < ranks; ++rank)
    record.ranks.push_back(make_rank_record(4, 40, [&](std::int64_t) { return plan; }));
  record.config.trainer.ranks.set(ranks);
  record.config.answer.json.set("a result of a name that is not short at all.json");
  for (RankRecord& rank : record.ranks) {
    for (const auto& word : Words<Stage>::table())
      rank.stages[word.value].add(kMillisecond, kMillisecond / 2, kMillisecond / 4, 1000);
  }
  record.skipped = {20, {{"truncated", 12}, {"damaged", 8}}, {}};
  for (int i = 0; i < 10; ++i) {
    record.skipped.first.push_back("folder/image" + std::to_string(i) + ".jpg: is cut off");
    record.notes.push_back(std::string(150, 'n') + ' ' + std::string(80, 'n'));
    record.metrics.push_back({"some.metric" + std::to_string(i), "s", "explained", 1.5});
  }
  record.contention_known = false;
  return record;
}

Analysis with_findings(const RunRecord& record, int count, int wrong) {
  Analysis analysis = analyse(record);
  Finding finding = sample_finding({{"num-workers", "64"}, {"prefetch-factor", "16"}});
  for (int i = 0; i < 200; ++i) finding.evidence += " and more";
  finding.wrong_data = true;
  for (int i = 0; i < wrong; ++i) analysis.findings.push_back(finding);
  finding.wrong_data = false;
  for (int i = 0; i < count; ++i) analysis.findings.push_back(finding);
  analysis.fit = GoodnessOfFit{-0.012, "decode", 0.008};
  analysis.fit_notes = record.notes;
  analysis.notes = record.notes;
  return analysis;
}

TEST(ShortTable, FitsAScreenWithManyCausesFindingsNotesAndRanks) {
  for (int ranks : {1, 2, 8}) {
    const RunRecord record = crowded_record(ranks);
    for (int wrong : {0, 2}) {
      for (int count : {0, 1, 30}) {
        Analysis analysis = with_findings(record, count, wrong);
        for (bool proof : {false, true}) {
          if (proof) analysis.proof = full_proof();
          const std::string text = short_table(record, analysis);
          EXPECT_LE(screen_rows(text), kRowsOfScreen) << text;
          EXPECT_THAT(text, StartsWith(wrong > 0 ? "Wrong data: " : analysis.verdict.sentence));
          EXPECT_THAT(text, HasSubstr("\nsaved a result"));
        }
      }
    }
  }
}

TEST(ShortTable, KeepsMainCausesOfAccountInLongReport) {
  const RunRecord record = crowded_record(8);
  Analysis analysis = with_findings(record, 30, 0);
  analysis.findings.front().evidence = "2 workers never rest";
  const std::string text = short_table(record, analysis);
  EXPECT_THAT(text, HasSubstr("\nFix: num-workers=64 prefetch-factor=16 -> "));
  EXPECT_THAT(text, HasSubstr("\n8 ranks: "));
  EXPECT_THAT(text, HasSubstr("\n  compute"));
  EXPECT_THAT(text, HasSubstr("\nWaiting for batches takes "));
  EXPECT_THAT(text, HasSubstr("and 27 more; ranks; first batch;"));
  EXPECT_THAT(text, Not(HasSubstr("own waits")));
}

TEST(ShortTable, PutsSmallCausesTogether) {
  const RunRecord record = make_run_record(4, 40, [](std::int64_t) {
    return make_step_plan(50 * kMillisecond, {{Cause::decode, 49 * kMillisecond},
                                              {Cause::read, 300 * kMicrosecond},
                                              {Cause::pin, 200 * kMicrosecond}});
  });
  const std::string text = short_table(record, analyse(record));
  EXPECT_THAT(text, HasSubstr("\n  2 more    500.0 us   0.5 %"));
  EXPECT_THAT(text, HasSubstr("read, pin\n"));
}

TEST(TextReportBuilder, LeavesOutLastLineOfLowestPriority) {
  TextReportBuilder screen({});
  screen.line(LinePriority::needed, "answer");
  screen.line(LinePriority::beside, "first aside");
  screen.line(LinePriority::evidence, "evidence");
  screen.line(LinePriority::beside, "second aside");
  EXPECT_EQ(screen.fit(3), 1u);
  std::ostringstream out;
  screen.print(out);
  EXPECT_EQ(out.str(), "answer\nfirst aside\nevidence\n");
  EXPECT_EQ(screen.fit(0), 2u);
  EXPECT_EQ(screen.rows(), 1u);
}

TEST(TextReportBuilder, CountsTheRowsOfATerminal) {
  ReportStyle style;
  style.width = 60;
  style.colour = true;
  TextReportBuilder screen(style);
  screen.headline(std::string(60, 'a'), LineTone::bad);
  EXPECT_EQ(screen.rows(), 1u);
  screen.raw(LinePriority::detail, std::string(61, 'b'));
  EXPECT_EQ(screen.rows(), 3u);
  screen.line(LinePriority::detail, "");
  EXPECT_EQ(screen.rows(), 3u);
}

}  // namespace
}  // namespace loaderscope
