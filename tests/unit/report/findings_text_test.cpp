#include "report/findings_text.h"

#include <gmock/gmock.h>

#include "unit/report/sample_finding.h"

namespace loaderscope {
namespace {

Finding make_finding(std::string_view id, double regained_s) {
  Finding finding = test::sample_finding({{"num-workers", "8"}});
  finding.id = id;
  finding.regained_s = regained_s;
  return finding;
}

const RunRecord kRecord;

TEST(FindingsText, TakesFixFromFirstFinding) {
  Analysis analysis;
  EXPECT_EQ(fix_line(kRecord, analysis), "");
  EXPECT_EQ(cause_line(analysis), "");
  EXPECT_EQ(pytorch_code(analysis), "");
  analysis.findings = {make_finding("too-few-workers", 2), make_finding("decode-bound", 1)};
  EXPECT_EQ(fix_line(kRecord, analysis),
            "Fix: num-workers=8 -> 25.0 % to 50.0 % busy, 160 to 320 samples/s");
  EXPECT_EQ(cause_line(analysis), "Why: 2 workers never rest (too-few-workers)");
  EXPECT_EQ(pytorch_code(analysis), "DataLoader(..., num_workers=4)");
  const std::vector<std::string> others = other_findings(analysis);
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(others.front(),
            "also decode-bound: 2 workers never rest; num-workers=8 -> 25.0 % to "
            "50.0 % busy, 160 to 320 samples/s");
}

TEST(FindingsText, ReportsUnknownGain) {
  Analysis analysis;
  analysis.findings = {make_finding("no-workers", 2)};
  Finding& fix = analysis.findings.front();
  fix.rate_before = fix.rate_after = fix.regained_s = 0;
  fix.waited = 0.5;
  EXPECT_EQ(fix_line(kRecord, analysis), "Fix: num-workers=8 (gain unknown; test it with --try)");
}

// A setting needs a gain of 5 %, any other change one of 10 %.
TEST(FindingsText, HidesFixesThatGiveLittle) {
  Analysis analysis;
  analysis.findings = {make_finding("too-few-workers", 2)};
  Finding& fix = analysis.findings.front();
  fix.rate_after = 167;
  EXPECT_EQ(fix_line(kRecord, analysis), "");
  EXPECT_EQ(cause_line(analysis), "");
  fix.rate_after = 169;
  EXPECT_THAT(fix_line(kRecord, analysis), testing::StartsWith("Fix: num-workers=8 -> "));
  fix.changes = fix.to_run = {{"decode.speed", "2"}};
  EXPECT_EQ(fix_line(kRecord, analysis), "");
  fix.rate_after = 177;
  EXPECT_THAT(fix_line(kRecord, analysis), testing::StartsWith("Fix: DataLoader"));
}

TEST(FindingsText, HidesFixesWithoutAVerdict) {
  Analysis analysis;
  analysis.findings = {make_finding("too-few-workers", 2)};
  analysis.verdict.withheld_reason = "the run is not steady";
  EXPECT_EQ(fix_line(kRecord, analysis), "");
  EXPECT_EQ(cause_line(analysis), "");
  EXPECT_EQ(pytorch_code(analysis), "");
  EXPECT_EQ(other_findings(analysis).size(), 1U);
}

TEST(FindingsText, StatesAssumptionAfterSetting) {
  Analysis analysis;
  analysis.findings = {make_finding("per-batch-overhead", 2)};
  Finding& fix = analysis.findings.front();
  fix.changes = {{"batch-size", "64"}, {"compute.speed", "0.5"}};
  fix.to_run = {{"batch-size", "64"}};
  EXPECT_THAT(fix_line(kRecord, analysis),
              testing::StartsWith("Fix: batch-size=64, if compute were 0.5 times as fast -> "));
}

TEST(FindingsText, WritesWrongDataOnSeparateLine) {
  Analysis analysis;
  Finding wrong;
  wrong.id = "workers-share-random-numbers";
  wrong.evidence = "4 of 4 workers begin alike";
  wrong.pytorch = "worker_init_fn=seed";
  wrong.wrong_data = true;
  analysis.findings = {wrong, make_finding("too-few-workers", 2)};
  EXPECT_EQ(wrong_data_lines(analysis),
            (std::vector<std::string>{
                "Wrong data: workers-share-random-numbers: 4 of 4 workers begin alike",
                "Fix: worker_init_fn=seed"}));
  EXPECT_EQ(cause_line(analysis), "Why: 2 workers never rest (too-few-workers)");
  EXPECT_TRUE(other_findings(analysis).empty());
}

TEST(FindingsText, ReportsWasteAndEpochTimeWithFix) {
  RunRecord record;
  record.config.data.samples.set(64'000);
  Analysis analysis;
  analysis.epoch_predicted_s = 400;
  analysis.waste = IdleCost{18, std::nullopt};
  EXPECT_EQ(fix_line(record, analysis), "18.0 GPU-hours a day are lost now");
  analysis.findings = {make_finding("too-few-workers", 2)};
  analysis.waste->price_per_day = 45;
  EXPECT_EQ(fix_line(record, analysis),
            "Fix: num-workers=8 -> 25.0 % to 50.0 % busy, 160 to 320 samples/s, an epoch 6.667 min "
            "to 3.333 min. 18.0 GPU-hours ($45.0) a day are lost now");
  analysis.verdict.severity = "none";
  analysis.findings.clear();
  EXPECT_EQ(fix_line(record, analysis), "");
}

TEST(FindingsText, GivesIntervalAfterEnoughPredictions) {
  Analysis analysis;
  analysis.findings = {make_finding("too-few-workers", 2)};
  analysis.fit = GoodnessOfFit{-0.012, "decode", 0.008};
  analysis.past = {9, 0.03, 0.1};
  EXPECT_EQ(fix_line(kRecord, analysis),
            "Fix: num-workers=8 -> 25.0 % to 50.0 % busy, 160 to 320 samples/s");
  analysis.past.count = 20;
  EXPECT_EQ(fix_line(kRecord, analysis),
            "Fix: num-workers=8 -> 25.0 % to 50.0 % busy (45.0-55.0), 160 to 320 samples/s "
            "(288-352)");
  EXPECT_EQ(cause_line(analysis),
            "Why: 2 workers never rest (too-few-workers); the last 20 predictions that were run "
            "were off by 3.0 % (median), 10.0 % at worst");
}

TEST(FindingsText, GivesAdviceWithoutSetting) {
  Analysis analysis;
  Finding finding = make_finding("far-numa-node", 0);
  finding.changes = finding.to_run = {};
  analysis.findings = {finding};
  EXPECT_EQ(other_findings(analysis).front(),
            "also far-numa-node: 2 workers never rest; DataLoader(..., num_workers=4)");
}

// Changes that only the model can make are printed as an assumption after the advice.
TEST(FindingsText, PrintsSpeedAsAssumption) {
  Analysis analysis;
  Finding finding = make_finding("slow-transport", 2);
  finding.changes = finding.to_run = {{"transport.speed", "1000"}, {"transport.recv.speed", "2"}};
  finding.pytorch = "few large tensors per batch";
  analysis.findings = {finding};
  EXPECT_EQ(fix_line(kRecord, analysis),
            "Fix: few large tensors per batch; if transport took no time and transport.recv were 2 "
            "times as fast: 25.0 % to 50.0 % busy, 160 to 320 samples/s");
  EXPECT_EQ(pytorch_code(analysis), "");
  analysis.findings.front().changes = {{"other-threads", "0"}};
  analysis.findings.front().to_run = analysis.findings.front().changes;
  EXPECT_THAT(fix_line(kRecord, analysis),
              testing::HasSubstr("; if no other program took a core:"));
  analysis.findings.front().to_run = {{"cache", "warm"}};
  EXPECT_THAT(fix_line(kRecord, analysis), testing::StartsWith("Fix: cache=warm -> 25.0 %"));
}

TEST(FindingsText, OmitsNumbersOfDirection) {
  RunRecord record;
  record.config.data.samples.set(64'000);
  Analysis analysis;
  Finding finding = make_finding("no-workers", 0);
  finding.rate_before = finding.rate_after = finding.busy_before = finding.busy_after = 0;
  analysis.findings = {finding};
  EXPECT_EQ(fix_line(record, analysis), "");
  analysis.findings.front().waited = 0.78;
  EXPECT_EQ(fix_line(record, analysis), "Fix: num-workers=8 (gain unknown; test it with --try)");
  EXPECT_EQ(pytorch_code(analysis), "DataLoader(..., num_workers=4)");
}

TEST(FindingsText, SplitsStallIntoMeanAndVariation) {
  Analysis analysis;
  RunConfig config;
  config.loader.num_workers.value = 2;
  analysis.account.window = 1000;
  EXPECT_EQ(starved_line(analysis, config), "");
  analysis.starved = StallSplit{200, 100};
  EXPECT_EQ(starved_line(analysis, config),
            "Starved for 20.0 % of the time by a lack of capacity, and for 10.0 % by variation of "
            "the costs");
  analysis.depth = RequiredPrefetchDepth{"prefetch-factor", 0.9, 7, 1'210'000'000, 1000};
  EXPECT_THAT(starved_line(analysis, config),
              testing::EndsWith("; prefetch-factor=7 makes 99.9 % of the steps ready, with 1.21 GB "
                                "of host memory"));
  analysis.depth->enough.reset();
  EXPECT_THAT(starved_line(analysis, config),
              testing::EndsWith("; 90.0 % of the steps find their batch ready, and no "
                                "prefetch-factor that was tried makes it 99.9 %"));
  analysis.starved = StallSplit{5, 4};
  EXPECT_EQ(starved_line(analysis, config), "");
}

// The fit of a run in which one step hung for most of the window.
TEST(FindingsText, PredictsNothingAfterBadFit) {
  Analysis analysis;
  analysis.findings = {make_finding("too-few-workers", 2), make_finding("order-stall", 0.7)};
  analysis.fit = GoodnessOfFit{25.36, "startup", -0.84};
  analysis.past = {20, 0.03, 0.1};
  EXPECT_EQ(fix_line(kRecord, analysis), "Fix: num-workers=8 (gain unknown; test it with --try)");
  EXPECT_THAT(other_findings(analysis).front(),
              testing::EndsWith("(gain unknown; test it with --try)"));
  EXPECT_THAT(fit_line(analysis),
              testing::EndsWith("too far off to predict from: run it again, or longer"));
  analysis.account.window = 10 * kSecond;
  analysis.account.order = kSecond;
  EXPECT_THAT(order_line(analysis, RunConfig()), testing::EndsWith("gives up to that back"));
}

TEST(FindingsText, EndsIntervalsAtZero) {
  Analysis analysis;
  analysis.findings = {make_finding("too-few-workers", 2)};
  analysis.past = {20, 0.03, 1.5};
  analysis.fit = GoodnessOfFit{-0.012, "decode", 0.008};
  EXPECT_EQ(fix_line(kRecord, analysis),
            "Fix: num-workers=8 -> 25.0 % to 50.0 % busy (0.0-100.0), 160 to 320 samples/s "
            "(0.00-800)");
}

TEST(FindingsText, ReportsCostOfOrder) {
  Analysis analysis;
  RunConfig config;
  analysis.account.window = 10 * kSecond;
  EXPECT_EQ(order_line(analysis, config), "");
  analysis.account.order = kSecond;
  EXPECT_THAT(order_line(analysis, config), testing::EndsWith("gives up to that back"));
  analysis.fit = GoodnessOfFit{};
  EXPECT_THAT(order_line(analysis, config), testing::EndsWith("would give back less than 1 %"));
  analysis.findings = {make_finding("order-stall", 0.7)};
  EXPECT_THAT(order_line(analysis, config),
              testing::EndsWith("--no-in-order gives 7.0 % back, as predicted"));
  config.loader.in_order.value = false;
  EXPECT_THAT(order_line(analysis, config),
              testing::EndsWith("ready while a late one was awaited"));
}

TEST(FindingsText, OmitsFixThatSavesNoTime) {
  Analysis analysis;
  analysis.findings = {make_finding("gpu-is-the-limit", 0)};
  EXPECT_EQ(fix_line(kRecord, analysis), "");
  EXPECT_EQ(other_findings(analysis).size(), 1U);
}

// The rate with a compute time of zero is meaningless, so the loader's limit is printed.
TEST(FindingsText, LimitsGainOfFasterStepToLoader) {
  Analysis analysis;
  analysis.findings = {make_finding("gpu-is-the-limit", 0)};
  Finding& limit = analysis.findings.front();
  limit.changes = limit.to_run = {{"compute.speed", "1000"}};
  limit.evidence = "the GPU is the limit, busy 97.1 % of the time";
  limit.pytorch = "make the step itself faster: torch.compile";
  limit.is_ceiling = true;
  EXPECT_EQ(other_findings(analysis).front(),
            "also gpu-is-the-limit: the GPU is the limit, busy 97.1 % of the time; make the step "
            "itself faster: torch.compile; it gives 320 samples/s at most, which is what the "
            "loader can feed (now 160)");
  limit.rate_after = 16'001;
  EXPECT_THAT(other_findings(analysis).front(),
              testing::EndsWith("; the loader can feed more than 100 times as many samples"));
}

TEST(FindingsText, ReportsEqualSpeedIfNoTimeIsSaved) {
  Analysis analysis;
  analysis.findings = {make_finding("prefetch-wastes-memory", 0)};
  EXPECT_THAT(other_findings(analysis).front(),
              testing::HasSubstr("num-workers=8 does about as well: 25.0 % to 50.0 % busy"));
}

TEST(FindingsText, SaysHowWellTheModelFits) {
  Analysis analysis;
  analysis.fit = GoodnessOfFit{-0.012, "decode", 0.008};
  EXPECT_EQ(fit_line(analysis), "");  // no finding has a prediction
  analysis.findings = {make_finding("too-few-workers", 2)};
  analysis.fit_notes = {"a note"};
  EXPECT_EQ(fit_line(analysis),
            "The model gives the base case's rate -1.2 %, decode +0.8 points; a note");
}

}  // namespace
}  // namespace loaderscope
