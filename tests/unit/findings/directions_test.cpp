// Advice for runs without a prediction, and the order of findings in the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "loaderscope/predict.h"
#include "unit/findings/users_code.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using test::run;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

#define COMPUTE "batch = 8\nsteps = 160\ncompute = 10ms\n"

Analysis analysed(const RunRecord& record) {
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  return analysis;
}

const Finding* find(const Analysis& analysis, std::string_view id) {
  const auto& all = analysis.findings;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Finding& f) { return f.id == id; });
  return found == all.end() ? nullptr : &*found;
}

std::string list_ids(const Analysis& analysis) {
  std::string text;
  for (const Finding& f : analysis.findings)
    text += std::string(f.id) + " " + changes_to_text(f.changes) + "; ";
  return text;
}

bool any_has_figures(const Analysis& analysis) {
  return std::any_of(analysis.findings.begin(), analysis.findings.end(),
                     [](const Finding& f) { return f.has_figures(); });
}

TEST(Directions, OmitsAdviceAfterFewSteps) {
  const Analysis analysis =
      analysed(run("batch = 8\nsteps = 10\ncompute = 1ms\nworkers = 1\ncost = decode=4ms"));
  ASSERT_TRUE(analysis.verdict.withheld_reason);
  EXPECT_TRUE(analysis.findings.empty()) << list_ids(analysis);
  EXPECT_EQ(advised_fix(analysis), nullptr);
  EXPECT_FALSE(analysis.fit);
}

TEST(Directions, NamesNoFixWithoutVerdict) {
  const RunRecord record = run(COMPUTE "workers = 1\ncost = decode=4ms");
  Analysis analysis = analyse(record);
  analysis.verdict.withheld_reason = "the run is not steady";
  add_findings(analysis, record);
  EXPECT_EQ(advised_fix(analysis), nullptr);
  ASSERT_NE(find(analysis, "too-few-workers"), nullptr) << list_ids(analysis);
  EXPECT_FALSE(any_has_figures(analysis)) << list_ids(analysis);
}

// Analyses the record as one of a run that is not steady.
Analysis without_verdict(const RunRecord& record) {
  Analysis analysis = analyse(record);
  analysis.verdict.withheld_reason = "the run is not steady";
  add_findings(analysis, record);
  return analysis;
}

// The advice is to run without workers, as sending costs more than making. More workers would
// contradict it, even though some workers never rest.
TEST(Directions, AvoidsContradictoryAdvice) {
  const Analysis analysis = without_verdict(
      run("batch = 8\nsteps = 60\ncompute = 1ms\nworkers = 2\nexecutor = processes\n"
          "cost = decode=500us\ncost = transport=4ms\ncost = transport.recv=2ms"));
  ASSERT_TRUE(analysis.verdict.withheld_reason);
  const Finding* tax = find(analysis, "slow-transport");
  ASSERT_NE(tax, nullptr) << list_ids(analysis);
  EXPECT_EQ(tax->changes, (Changes{{"num-workers", "0"}}));
  EXPECT_EQ(find(analysis, "too-few-workers"), nullptr) << list_ids(analysis);
}

TEST(Directions, FillsValuesIntoAdvice) {
  const Analysis analysis =
      without_verdict(run("batch = 8\nsteps = 60\ncompute = 10ms\nworkers = 2\nprefetch = 1\n"
                          "cost = decode=2ms\ninject = decode=+150ms@p=0.03"));
  ASSERT_TRUE(analysis.verdict.withheld_reason);
  const Finding* shallow = find(analysis, "prefetch-too-shallow");
  ASSERT_NE(shallow, nullptr) << list_ids(analysis);
  EXPECT_EQ(shallow->changes, (Changes{{"prefetch-factor", "2"}}));
  EXPECT_EQ(shallow->pytorch, "DataLoader(..., prefetch_factor=2)");
}

// 78 % waiting, and neither a sample nor a batch was kept: more steps could not help.
TEST(Directions, GivesFixWithoutSamples) {
  RunRecord record = run(COMPUTE "workers = 0\ncost = decode=4ms");
  test::forget_samples(record);
  const Analysis analysis = analysed(record);
  const Finding* fix = advised_fix(analysis);
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix->id, "no-workers") << list_ids(analysis);
  EXPECT_EQ(fix->changes, (Changes{{"num-workers", "3"}}));
  EXPECT_FALSE(fix->has_figures());
  EXPECT_NEAR(fix->waited, 22.0 / 32, 0.001);  // the step before computes meanwhile
  EXPECT_THAT(analysis.notes, Contains(StartsWith("no predictions: no single sample was seen")));
}

// Training in two threads on two cores, without workers: `decode` for each of 8 samples.
Analysis training_on_cores(const std::string& decode, double cores = 2) {
  RunRecord record =
      run("batch = 8\nsteps = 160\ncompute = 10ms\nin-flight = 1\nworkers = 0\ncost = decode=" +
          decode);
  test::make_users_code(record);
  record.config.trainer.device.value = "script";
  record.config.declared.cores.set(cores);
  double cpu = 0;
  for (const StageStats& stage : record.ranks.front().stages) cpu += seconds(stage.cpu);
  cpu += 2 * seconds(record.ranks.front().stages[Stage::compute].wall);
  record.metrics.push_back({"process.cpu_s", "s", "", cpu});
  return analysed(record);
}

// Making takes 4 ms of a step of 14 ms. Workers would slow the training on the same cores by more
// than that.
TEST(Directions, AdvisesNoWorkersThatTakeCoresFromTraining) {
  const Analysis analysis = training_on_cores("500us");
  EXPECT_GT(analysis.account.stall[Cause::opaque], analysis.account.window / 5);
  EXPECT_EQ(find(analysis, "no-workers"), nullptr) << list_ids(analysis);
}

// The slowdown of the training is a rule of thumb, so the advice has no numbers.
TEST(Directions, OmitsFiguresForWorkersThatShareCoresWithTraining) {
  const Analysis analysis = training_on_cores("8ms");
  const Finding* fix = find(analysis, "no-workers");
  ASSERT_NE(fix, nullptr) << list_ids(analysis);
  EXPECT_FALSE(fix->has_figures());
  EXPECT_THAT(fix->evidence, HasSubstr("workers would share 2 cores with training"));
}

// A tokenizer's own threads take the cores while the trainer is blocked in it.
TEST(Directions, AdvisesNoWorkersIfLibraryTakesCores) {
  RunRecord record =
      run("batch = 8\nsteps = 160\ncompute = 10ms\nin-flight = 1\nworkers = 0\n"
          "cost = augment=500us:sleep");
  test::forget_samples(record);
  record.config.trainer.device.value = "script";
  record.config.declared.cores.set(2);
  const double computing = seconds(record.ranks.front().stages[Stage::compute].wall);
  record.metrics.push_back({"process.cpu_s", "s", "", 2 * computing});
  const Analysis analysis = analysed(record);
  EXPECT_GT(analysis.account.stall[Cause::augment], analysis.account.window / 5);
  EXPECT_EQ(find(analysis, "no-workers"), nullptr) << list_ids(analysis);
}

TEST(Directions, AdvisesWorkersIfCoresAreSpare) {
  const Analysis analysis = training_on_cores("8ms", 8);
  const Finding* fix = advised_fix(analysis);
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix->id, "no-workers") << list_ids(analysis);
}

// Somebody's code, of whose samples the model knows too little.
Analysis missed_by_the_model(const std::string& settings) {
  RunRecord record = run(settings);
  test::make_users_code(record);
  for (SampleRow& sample : record.ranks[0].reservoir)
    for (SampleRow::Part& part : sample.parts) part.wall *= 5;
  return analysed(record);
}

TEST(Directions, GivesFixIfModelMissesRun) {
  const Analysis analysis = missed_by_the_model(COMPUTE "workers = 1\ncost = decode=4ms");
  ASSERT_TRUE(analysis.fit);
  ASSERT_FALSE(analysis.fit->can_predict());
  ASSERT_NE(advised_fix(analysis), nullptr);
  EXPECT_FALSE(any_has_figures(analysis)) << list_ids(analysis);
}

// More workers wait at the same time. Array operations do not shorten a sleep.
TEST(Directions, AdvisesMoreWorkersFirstForCodeThatWaits) {
  const Analysis analysis = missed_by_the_model(COMPUTE "workers = 2\ncost = decode=40ms:sleep");
  ASSERT_TRUE(analysis.fit);
  ASSERT_FALSE(analysis.fit->can_predict());
  ASSERT_NE(advised_fix(analysis), nullptr) << list_ids(analysis);
  EXPECT_EQ(advised_fix(analysis)->id, "too-few-workers") << list_ids(analysis);
  const Finding* code = find(analysis, "own-code");
  ASSERT_NE(code, nullptr) << list_ids(analysis);
  EXPECT_THAT(code->pytorch, HasSubstr("they wait 100.0 % of their time"));
  EXPECT_THAT(code->pytorch, Not(HasSubstr("whole arrays")));
}

// Two workers that compute all the time on two cores: four would only share them.
TEST(Directions, AdvisesNoWorkersWithoutCores) {
  const auto analysed_on = [](double cores) {
    RunRecord record = run(COMPUTE "workers = 2\ncost = decode=4ms");
    test::forget_samples(record);
    record.config.declared.cores.set(cores);
    return analysed(record);
  };
  const Analysis full = analysed_on(2);
  EXPECT_EQ(find(full, "too-few-workers"), nullptr) << list_ids(full);
  EXPECT_NE(find(full, "own-code"), nullptr) << list_ids(full);
  const Analysis some = analysed_on(3);
  ASSERT_NE(find(some, "too-few-workers"), nullptr) << list_ids(some);
  EXPECT_EQ(find(some, "too-few-workers")->changes, (Changes{{"num-workers", "3"}}));
  EXPECT_EQ(find(analysed_on(16), "too-few-workers")->changes, (Changes{{"num-workers", "4"}}));
}

// A step of a trainer that only takes batches needs no compute to be predicted.
TEST(Directions, PredictsLoadersWithoutCompute) {
  RunRecord record = run("batch = 8\nsteps = 160\ndevice = null\nworkers = 2\ncost = decode=4ms");
  test::make_users_code(record);
  const Analysis analysis = analysed(record);
  EXPECT_THAT(analysis.notes, Not(Contains(StartsWith("no predictions"))));
  ASSERT_NE(advised_fix(analysis), nullptr) << list_ids(analysis);
  EXPECT_EQ(advised_fix(analysis)->id, "too-few-workers") << list_ids(analysis);
  EXPECT_GT(advised_fix(analysis)->rate_after, 1.9 * advised_fix(analysis)->rate_before);
  ASSERT_NE(find(analysis, "own-code"), nullptr) << list_ids(analysis);
}

TEST(Directions, OmitsAdviceThatNeedsModel) {
  const Analysis analysis =
      without_verdict(run("batch = 8\nsteps = 60\ncompute = 1ms\nworkers = 2\nmemory = pin-thread\n"
                          "cost = pin=20ms"));
  ASSERT_TRUE(analysis.verdict.withheld_reason);
  EXPECT_EQ(find(analysis, "pinning-not-worth-it"), nullptr);
  EXPECT_NE(find(analysis, "pin-thread-limit"), nullptr) << list_ids(analysis);
}

TEST(Directions, OmitsAdviceIfSpansWereLost) {
  RunRecord record = run(COMPUTE "workers = 1\ncost = decode=4ms");
  record.lost_spans = 1;
  EXPECT_TRUE(analysed(record).findings.empty());
}

// The quota gains more, but the user can keep the workers without an administrator.
TEST(Findings, PrefersSettingToAdministratorsFix) {
  const Analysis analysis =
      analysed(run(COMPUTE "samples = 160\nworkers = 8\ncores = 2.5\ncost = decode=4ms\n"
                           "cost = startup=20ms:sleep"));
  const Finding *quota = find(analysis, "cpu-quota"), *kept = find(analysis, "workers-restarted");
  ASSERT_NE(quota, nullptr) << list_ids(analysis);
  ASSERT_NE(kept, nullptr) << list_ids(analysis);
  EXPECT_EQ(quota->fixed_by, FixedBy::administrator);
  EXPECT_GT(quota->regained_s, kept->regained_s);
  EXPECT_LT(kept, quota) << list_ids(analysis);
  EXPECT_EQ(advised_fix(analysis)->fixed_by, FixedBy::reader);
}

// The possible speedup of augmenting is unknown, and one more worker is certainly possible.
TEST(Findings, PutsSettingWithThirdOfGainBeforeRewriting) {
  const Analysis analysis = analysed(run(COMPUTE "workers = 6\ncores = 8\ncost = augment=10500us"));
  const Finding *more = find(analysis, "too-few-workers"),
                *faster = find(analysis, "augment-bound");
  ASSERT_NE(more, nullptr) << list_ids(analysis);
  ASSERT_NE(faster, nullptr) << list_ids(analysis);
  EXPECT_GT(faster->gain(), 1.2 * more->gain());
  EXPECT_GE(more->gain(), faster->gain() / 3);
  EXPECT_EQ(advised_fix(analysis), more) << list_ids(analysis);
}

// Workers start for 20 ms of each epoch of 2 s, and decoding on all cores takes the rest.
TEST(Findings, PutsRewritingBeforeSettingOfLittleGain) {
  const Analysis analysis =
      analysed(run("batch = 8\nsteps = 160\ncompute = 10ms\nworkers = 8\ncores = 8\n"
                   "samples = 800\ncost = startup=20ms:sleep\ncost = decode=20ms"));
  ASSERT_NE(advised_fix(analysis), nullptr);
  EXPECT_EQ(advised_fix(analysis)->id, "decode-bound") << list_ids(analysis);
}

TEST(Findings, AdvisesOnlyWorkersThatMemoryHolds) {
  RunRecord record = run(COMPUTE "workers = 1\ncost = decode=12ms");
  record.metrics.push_back({"memory.worker_private_bytes", "bytes", "", 1e9});
  record.metrics.push_back({"memory.free_bytes", "bytes", "", 3.5e9});
  const Analysis analysis = analysed(record);
  const Finding* more = find(analysis, "too-few-workers");
  ASSERT_NE(more, nullptr);
  EXPECT_EQ(changes_to_text(more->changes), "num-workers=4");
  EXPECT_THAT(more->evidence,
              HasSubstr("; 4 workers need about 4.04 GB, 3.03 GB more than now (3.50 GB are "
                        "free); more do not fit"));
}

TEST(Findings, OmitsMemoryIfPlentyIsFree) {
  RunRecord record = run(COMPUTE "workers = 1\ncost = decode=12ms");
  record.metrics.push_back({"memory.worker_private_bytes", "bytes", "", 1e7});
  record.metrics.push_back({"memory.free_bytes", "bytes", "", 60e9});
  const Analysis analysis = analysed(record);
  const Finding* more = find(analysis, "too-few-workers");
  ASSERT_NE(more, nullptr);
  EXPECT_THAT(more->evidence, Not(HasSubstr("memory")));
}

// The GPU is busy 91 % of the time, and two thirds of the rest are other programs'.
RunRecord nearly_busy() {
  return test::make_run_record(4, 100, [](std::int64_t) {
    return test::make_step_plan(91 * kMillisecond, {{Cause::contention, 6 * kMillisecond},
                                                    {Cause::decode, 2 * kMillisecond},
                                                    {Cause::read, kMillisecond}});
  });
}

TEST(Findings, NamesOtherProgramsIfNothingElseGainsEnough) {
  RunRecord record = nearly_busy();
  record.metrics.push_back({"process.cpu_s", "s", "", 1});
  record.metrics.push_back({"host.other_cpu_s", "s", "", 9});
  record.details.push_back({"host.other_cpu_s", "cc1plus", 0});
  const Analysis analysis = analysed(record);
  ASSERT_NE(advised_fix(analysis), nullptr) << list_ids(analysis);
  EXPECT_EQ(advised_fix(analysis)->id, "other-programs");
  EXPECT_EQ(analysis.verdict.bound_by, "contention");
  EXPECT_THAT(analysis.verdict.sentence, HasSubstr("because of other programs (cc1plus)"));
}

TEST(Findings, CallsGpuTheLimitIfNothingGainsEnough) {
  const Analysis analysis = analysed(nearly_busy());
  EXPECT_EQ(advised_fix(analysis), nullptr) << list_ids(analysis);
  EXPECT_EQ(analysis.verdict.bound_by, "compute");
  EXPECT_THAT(analysis.verdict.sentence, HasSubstr("the GPU is the limit: busy 91.0 %"));
  EXPECT_NE(find(analysis, "gpu-is-the-limit"), nullptr) << list_ids(analysis);
}

// Reads that take their time for each byte, each reader for itself: that is no full storage.
TEST(Findings, ClaimsNoFullStorageIfMoreReadersGetMore) {
  const std::string reads =
      COMPUTE "stored-bytes = uniform:60KB:160KB\ncost = read=10MB/s:sleep\nworkers = ";
  const Analysis analysis = analysed(run(reads + "1"));
  EXPECT_EQ(find(analysis, "storage-bandwidth"), nullptr) << list_ids(analysis);
  ASSERT_NE(advised_fix(analysis), nullptr);
  EXPECT_GT(advised_fix(analysis)->rate_after, 1.9 * advised_fix(analysis)->rate_before)
      << list_ids(analysis);
}

TEST(Findings, NamesStragglers) {
  const Analysis ranks =
      analysed(run(COMPUTE "ranks = 2\nsync-ranks = true\nworkers = 1\ncost = read=1ms\n"
                           "inject = read=+1ms@rank=1"));
  ASSERT_NE(find(ranks, "straggler-rank"), nullptr) << list_ids(ranks);
  EXPECT_THAT(find(ranks, "straggler-rank")->evidence, HasSubstr("rank 1 is the straggler"));
  EXPECT_THAT(find(ranks, "straggler-rank")->evidence, HasSubstr("waits mostly for read"));
  EXPECT_THAT(find(ranks, "straggler-rank")->pytorch, HasSubstr("its part of the data"));
  RunRecord record = run(COMPUTE
                         "ranks = 2\nsync-ranks = true\nworkers = 1\ncost = read=1ms\n"
                         "cost = launch=1ms\ninject = launch=+40ms@rank=1");
  record.metrics.push_back({"rendezvous.notification_delay_s", "s", "", 1000});
  const Analysis late = analysed(record);
  ASSERT_NE(find(late, "straggler-rank"), nullptr) << list_ids(late);
  EXPECT_THAT(find(late, "straggler-rank")->pytorch,
              HasSubstr("the network between the processes"));
  const Analysis workers =
      analysed(run(COMPUTE "workers = 4\ncost = decode=2ms:sleep\ninject = decode=+8ms@worker=3"));
  ASSERT_NE(find(workers, "straggler-worker"), nullptr) << list_ids(workers);
  EXPECT_THAT(find(workers, "straggler-worker")->evidence,
              HasSubstr("worker 3 takes 10.00 ms for a sample, the others 2.000 ms"));
}

// One rank reads 40 ms longer, and all four wait for it: it is the subject, with its own figures,
// and more workers on every rank are not the fix.
TEST(Findings, LeadsWithRankThatAllWaitFor) {
  const Analysis analysis = analysed(
      run("batch = 32\nsteps = 100\ncompute = 36ms\nranks = 4\nsync-ranks = true\ncores = 16\n"
          "cost = decode=1ms\nworkers = 2\ninject = read=+40ms@rank=2"));
  const Finding* fix = advised_fix(analysis);
  ASSERT_NE(fix, nullptr);
  EXPECT_EQ(fix, &analysis.findings.front()) << list_ids(analysis);
  EXPECT_EQ(fix->id, "straggler-rank");
  EXPECT_THAT(fix->evidence, HasSubstr("rank 2 is the straggler"));
  EXPECT_THAT(fix->evidence, HasSubstr("read takes 40.00 ms there and 0 ns on the others"));
  EXPECT_THAT(fix->pytorch, StartsWith("look at what rank 2 has to itself"));
  // The others make a batch in 16 ms and compute for 36: 4 x 32 samples every 36 ms.
  EXPECT_NEAR(fix->rate_after, 128 / 0.036, 20);
  EXPECT_THAT(fix->pytorch, HasSubstr("as fast as the others: "));
  EXPECT_FALSE(advised_fix(analysis)->has_setting()) << "workers on every rank would only hide it";
  for (const Finding& finding : analysis.findings) {
    if (finding.id != fix->id) {
      EXPECT_THAT(finding.evidence, StartsWith("on rank 2: "));
    }
    EXPECT_THAT(finding.evidence, Not(HasSubstr("10.00 ms"))) << "a mean over ranks";
  }
}

// Ranks that do not wait for each other: the figures are those of the slow one.
TEST(Findings, DescribesSlowRankIfRanksDoNotWait) {
  const Analysis analysis =
      analysed(run("batch = 16\nduration = 5s\ncompute = 20ms\nranks = 2\ncores = 2\n"
                   "cost = read=8ms:sleep\nworkers = 2\ninject = read=+8ms@rank=1"));
  EXPECT_FALSE(analysis.verdict.withheld_reason);
  ASSERT_NE(advised_fix(analysis), nullptr);
  EXPECT_EQ(advised_fix(analysis)->id, "storage-latency") << list_ids(analysis);
  EXPECT_THAT(advised_fix(analysis)->evidence, StartsWith("on rank 1: reads wait 16.00 ms each"));
}

// Ranks that are slow alike are no stragglers: the advice is for all of them.
TEST(Findings, LeadsWithNoRankIfAllAreAlike) {
  const Analysis analysis = analysed(
      run("batch = 8\nsteps = 100\ncompute = 10ms\nranks = 4\nsync-ranks = true\ncores = 16\n"
          "cost = decode=4ms\nworkers = 1"));
  ASSERT_NE(advised_fix(analysis), nullptr);
  EXPECT_NE(advised_fix(analysis)->id, "straggler-rank");
  ASSERT_NE(advised_fix(analysis), nullptr);
  EXPECT_TRUE(advised_fix(analysis)->has_setting());
}

// A worker that met the one slow sample of the run is not a slow one.
TEST(Findings, IgnoresOneSlowSampleOfWorker) {
  const Analysis analysis =
      analysed(run(COMPUTE "workers = 4\ncost = decode=2ms:sleep\ninject = decode=+4s@every=1000"));
  EXPECT_EQ(find(analysis, "straggler-worker"), nullptr) << list_ids(analysis);
}

TEST(Findings, RecognisesSettings) {
  Finding finding;
  EXPECT_FALSE(finding.has_setting());
  for (const char* world_key : {"decode.speed", "cores", "other-threads", "storage-latency"}) {
    finding.to_run = {{world_key, "2"}};
    EXPECT_FALSE(finding.has_setting()) << world_key;
  }
  finding.to_run = {{"num-workers", "2"}};
  EXPECT_TRUE(finding.has_setting());
  finding.to_run = {{"inject", "decode=+1ms"}};
  EXPECT_TRUE(finding.has_setting());
}

}  // namespace
}  // namespace loaderscope
