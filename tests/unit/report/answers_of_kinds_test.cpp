// The default answers of all kinds of results but runs: their size, their words and line 1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "report/answer/answers.h"
#include "unit/report/sample_results.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::AnyOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

std::string text_of_answer(const Answer& answer) {
  std::string text;
  for (const std::string& line : answer_lines(answer)) text += line + "\n";
  return text;
}

// Sections 1 and 2 of the rules of a default answer.
void expect_to_be_an_answer(const Answer& answer) {
  const std::vector<std::string> lines = answer_lines(answer);
  const std::string text = text_of_answer(answer);
  SCOPED_TRACE(text);
  ASSERT_FALSE(lines.empty());
  EXPECT_FALSE(lines.front().empty());
  EXPECT_LE(lines.size(), kMaxAnswerLines);
  EXPECT_LE(count_figures(text), kMaxAnswerFigures);
  for (const std::string& line : lines) EXPECT_LE(count_columns(line), 80u) << line;
  for (const auto* labelled_lines : {&answer.first, &answer.last})
    for (const AnswerLine& line : *labelled_lines) {
      EXPECT_THAT(line.label, AnyOf("Wrong data", "Fix", "Next", "Why", "Also", "More"));
      EXPECT_FALSE(line.text.empty()) << line.label;
    }
  static const std::regex technical(
      "(^|[^a-z_-])(capacity|depth|opaque|share|stall|hidden|p50|p99)([^a-z_-]|$)|sets the pace|"
      "gives back|±");
  EXPECT_FALSE(std::regex_search(text, technical));
}

std::string first_line(const Answer& answer) {
  expect_to_be_an_answer(answer);
  return answer_lines(answer).front();
}

// The settings of `axes`, the first of them run at these rates.
Experiment measured_grid(const std::vector<std::string>& axes,
                         const std::vector<std::pair<double, double>>& rates_and_busy) {
  Experiment experiment =
      plan(scenario("cost = decode=8ms\ncompute = 12ms\nbatch = 4\ncores = 16"), axes);
  for (std::size_t i = 0; i < rates_and_busy.size(); ++i) {
    const auto [rate, busy] = rates_and_busy[i];
    CaseRun run;
    run.samples_per_s = {rate, rate - 1, rate + 1};
    run.has_busy = busy > 0;
    run.busy = {busy, busy - 0.001, busy + 0.001};
    run.steps = 20;
    experiment.cases[i].runs = {run};
  }
  experiment.spent = 60 * kSecond;
  return experiment;
}

// Mock-up A8.
Tune tune_of_workers() {
  Tune tune;
  tune.experiment = measured_grid({"workers=2,4,8,16"}, {{222, 0.28}, {444, 0.56}, {800, 1}});
  tune.candidates.resize(tune.experiment.cases.size());
  tune.candidates[3].predicted = Forecast{800, 1};
  tune.best = tune.recommended = 2;
  tune.now = 0;
  tune.proven = true;
  tune.limit = "compute";
  return tune;
}

TEST(AnswerOfTune, ComparesBestSettingWithCurrentOne) {
  const Answer answer = answer_tune(tune_of_workers());
  EXPECT_EQ(first_line(answer),
            "Use num_workers=8: 800 samples/s, GPU 100 % busy (now 222 samples/s, 28 %)");
  const std::string text = text_of_answer(answer);
  EXPECT_THAT(text, HasSubstr("\nFix:   DataLoader(..., num_workers=8"));
  EXPECT_THAT(text, HasSubstr("\n  workers   samples/s  GPU busy\n"));
  EXPECT_THAT(text, HasSubstr("\n        2         222      28 %  now\n"));
  EXPECT_THAT(text,
              HasSubstr("\n  ->    8         800     100 %  fewest within 3 % of the best\n"));
  EXPECT_THAT(text, HasSubstr("\n       16         800     100 %  predicted\n"));
  EXPECT_THAT(text, Not(HasSubstr("Next:")));
}

TEST(AnswerOfTune, ReportsBestSoFarIfUnproven) {
  Tune tune = tune_of_workers();
  tune.proven = false;
  EXPECT_EQ(first_line(answer_tune(tune)),
            "Best so far: num_workers=8, 800 samples/s, GPU 100 % busy (now 222)");
  EXPECT_THAT(text_of_answer(answer_tune(tune)),
              HasSubstr("\nNext:  --budget 2m (would measure num_workers=16)"));
  tune.proven = true;
  tune.beyond = BeyondGrid{{"num-workers", "32"}, Forecast{1200, 1}, ""};
  EXPECT_THAT(first_line(answer_tune(tune)), StartsWith("Best so far: num_workers=8, "));
  EXPECT_THAT(text_of_answer(answer_tune(tune)),
              HasSubstr("\nNext:  --vary num-workers=32 (it may give 1,200 samples/s)"));
}

TEST(AnswerOfTune, LeavesThePresentSettingIfNothingIsFaster) {
  Tune tune = tune_of_workers();
  tune.now = 2;
  EXPECT_EQ(first_line(answer_tune(tune)),
            "Leave it: num_workers=8, 800 samples/s, GPU 100 % busy (simulated GPU)");
  EXPECT_THAT(text_of_answer(answer_tune(tune)),
              HasSubstr("\nFix:   nothing; no setting that ran is faster\n"));
}

TEST(AnswerOfTune, KeepsThePresentSettingIfOthersOnlySaveMemory) {
  Tune tune;
  tune.experiment = measured_grid({"memory=pinned-slots,pageable"}, {{250, 0.14}, {250, 0.14}});
  tune.candidates.resize(tune.experiment.cases.size());
  tune.now = 0;
  tune.best = tune.recommended = 1;
  tune.proven = true;
  EXPECT_THAT(first_line(answer_tune(tune)),
              StartsWith("Leave it: memory=pinned-slots, 250 samples/s, GPU 14 % busy"));
  EXPECT_THAT(text_of_answer(answer_tune(tune)), HasSubstr("\nFix:   nothing; "));
  tune.proven = false;
  EXPECT_THAT(first_line(answer_tune(tune)),
              MatchesRegex("Best so far: memory=pinned-slots, .* \\(as now\\).*"));
}

TEST(AnswerOfSweep, ReportsFewestWorkersNearTheBest) {
  const Experiment sweep =
      measured_grid({"workers=1,2,4,8"}, {{222, 0}, {444, 0}, {631, 0}, {640, 0}});
  EXPECT_EQ(first_line(answer_sweep(sweep)),
            "Fewest within 3 % of the best: num_workers=4, 631 samples/s (simulated GPU)");
  EXPECT_THAT(text_of_answer(answer_sweep(sweep)), HasSubstr("640  fastest\n"));
}

TEST(AnswerOfSweep, SaysWhatHasNotRun) {
  const Experiment sweep = measured_grid({"workers=1,2,4,8"}, {{222, 0}, {444, 0}});
  EXPECT_EQ(first_line(answer_sweep(sweep)),
            "Fastest: num_workers=2, 444 samples/s (simulated GPU)");
  EXPECT_THAT(text_of_answer(answer_sweep(sweep)), HasSubstr("(2 of 4 settings have not run)"));
}

Account account_of_window(Nanos compute, Nanos read, Nanos decode) {
  Account account;
  account.window = 100 * kMillisecond;
  account.compute = compute;
  account.stall[Cause::read] = read;
  account.stall[Cause::decode] = decode;
  return account;
}

WhatIf more_workers() {
  WhatIf what_if;
  what_if.changes = {{"num-workers", "16"}};
  what_if.fitted = {"fitted", 430, true,
                    account_of_window(25 * kMillisecond, 70 * kMillisecond, 5 * kMillisecond)};
  what_if.measured = what_if.fitted;
  what_if.measured->samples_per_s = 434;
  what_if.predicted =
      WhatIfCase{"predicted", 800, true,
                 account_of_window(46 * kMillisecond, 45 * kMillisecond, 9 * kMillisecond)};
  what_if.fit = GoodnessOfFit{-0.012, "decode", 0.008};
  return what_if;
}

TEST(AnswerOfWhatIf, ReportsBothRatesAndCauses) {
  const Answer answer = answer_what_if(more_workers());
  EXPECT_EQ(first_line(answer), "Predicted with num_workers=16: 434 -> about 800 samples/s");
  const std::string text = text_of_answer(answer);
  EXPECT_THAT(text, HasSubstr("\n  compute    25 %  46 %\n"));
  EXPECT_THAT(text, HasSubstr("\n  read       70 %  45 %\n"));
  EXPECT_THAT(text, HasSubstr("Test: --verify"));
}

TEST(AnswerOfWhatIf, OmitsTestOfWhatCannotRun) {
  WhatIf what_if = more_workers();
  what_if.why_not_run = "--verify: decode.speed cannot be run, the stage works for real";
  EXPECT_THAT(text_of_answer(answer_what_if(what_if)), testing::Not(HasSubstr("--verify")));
  what_if.predicted.reset();
  EXPECT_THAT(text_of_answer(answer_what_if(what_if)), testing::Not(HasSubstr("--verify")));
}

TEST(AnswerOfWhatIf, DropsAboutIfPastPredictionsHeld) {
  WhatIf what_if = more_workers();
  what_if.history = PastPredictions{20, 0.03, 0.09};
  EXPECT_EQ(first_line(answer_what_if(what_if)),
            "Predicted with num_workers=16: 434 -> 800 samples/s");
}

TEST(AnswerOfWhatIf, NamesMemoryOfMoreWorkers) {
  WhatIf what_if = more_workers();
  what_if.memory = WorkerMemory{.workers = 16, .needed = 16e9, .more = 12e9, .free = 60e9};
  EXPECT_THAT(text_of_answer(answer_what_if(what_if)),
              HasSubstr("\nWhy:   16 workers need about 16 GB, 12 GB more than now (60 GB are "
                        "free)\n"));
}

WhatIf work_on_gpu() {
  WhatIf what_if = more_workers();
  what_if.changes = {{"decode", "hw"}};
  GpuWork& gpu = what_if.gpu.emplace();
  gpu.step_s = 0.0031;
  gpu.share = 0.022;
  gpu.freed_cores = 6.1;
  gpu.cores = 8;
  gpu.pays_up_to = 21;
  gpu.max_workers = 64;
  gpu.loss_beyond = 0.02;
  gpu.own_stream_samples_per_s = 850;
  gpu.basis = "21,900 images/s of 0.19 MP, by probe of this GPU";
  return what_if;
}

TEST(AnswerOfWhatIf, NamesPriceOfWorkOnGpu) {
  WhatIf what_if = work_on_gpu();
  const std::string text = text_of_answer(answer_what_if(what_if));
  EXPECT_THAT(text, HasSubstr("it takes 3.1 ms of GPU time a step (2 %) and frees 6.1 of 8 cores"));
  EXPECT_THAT(text, HasSubstr("it pays with 21 workers or fewer; with 22 the CPU keeps up"));
  EXPECT_EQ(what_if.gpu->own_stream_sentence(),
            "850 samples/s with a stream of its own, as DALI has");
  EXPECT_EQ(what_if.gpu->basis_sentence(),
            "it uses 21,900 images/s of 0.19 MP, by probe of this GPU");
  what_if.gpu->pays_up_to = 64;
  EXPECT_EQ(what_if.gpu->workers_sentence(), "it pays with any number of workers up to 64");
  what_if.gpu->pays_up_to = 0;
  EXPECT_EQ(what_if.gpu->workers_sentence(),
            "it pays with no number of workers, as the CPU keeps up");
  what_if.gpu.reset();
  EXPECT_THAT(text_of_answer(answer_what_if(what_if)), testing::Not(HasSubstr("GPU time")));
}

TEST(AnswerOfWhatIf, ReportsUnknownGain) {
  WhatIf what_if = more_workers();
  what_if.predicted.reset();
  what_if.why_not = "the model misses the run";
  EXPECT_EQ(first_line(answer_what_if(what_if)),
            "Gain unknown with num_workers=16: the model misses the run");
  EXPECT_THAT(text_of_answer(answer_what_if(what_if)), HasSubstr("\nNext:  --verify"));
}

JobPlan plan_with_full_storage() {
  JobPlan job;
  job.has_busy = true;
  job.measured = {8, 1, 14'000, account_of_window(95 * kMillisecond, 5 * kMillisecond, 0), {}};
  job.sizes = {
      job.measured,
      {1000, 125, 1'290'000, account_of_window(72 * kMillisecond, 28 * kMillisecond, 0), {}}};
  job.question.ranks = 1000;
  job.question.hosts = 125;
  job.shared = {{"storage", 10e9, 3.4e9, 340.0}};
  job.first_full = "storage";
  return job;
}

TEST(AnswerOfPlan, ReportsBusyGpusAndFullResource) {
  const Answer answer = answer_plan(plan_with_full_storage());
  EXPECT_EQ(first_line(answer),
            "1,000 ranks: GPUs 72 % busy; the storage is full from 340 ranks on");
  const std::string text = text_of_answer(answer);
  EXPECT_THAT(text, HasSubstr("\nFix:   10 GB/s of storage in place of 3.4 GB/s\n"));
  EXPECT_THAT(text, HasSubstr("\n  1,000  1,290,000      72 %  read\n"));
}

TEST(AnswerOfCompare, ReportsSlowdownAndNamesStage) {
  const Answer answer = compare::answer_comparison(compare::test::sample(2.4e-3, 1e-4));
  EXPECT_EQ(first_line(answer),
            "SLOWER: B gives 294 samples/s, A gave 333 (-12 %): decode takes 20 % longer");
  EXPECT_THAT(text_of_answer(answer), HasSubstr("If intended: help gate    (exit code 2)\n"));
}

TEST(AnswerOfCompare, ReportsFasterSameOrUnknown) {
  EXPECT_THAT(first_line(compare::answer_comparison(compare::test::sample(1.5e-3, 1e-4))),
              StartsWith("FASTER: B gives 400 samples/s, A gave 333 (+20 %): decode takes 25 % "
                         "less"));
  EXPECT_EQ(first_line(compare::answer_comparison(compare::test::alike())),
            "SAME: B and A both give 333 samples/s (a change of 2 % would have been seen)");
  const Answer untold = compare::answer_comparison(compare::test::noisy());
  EXPECT_THAT(first_line(untold), MatchesRegex("CANNOT TELL: [0-9]+ and [0-9]+ samples/s; a change "
                                               "below [0-9]+ % cannot be seen here"));
  EXPECT_THAT(text_of_answer(untold), HasSubstr("\nNext:  "));
}

TEST(AnswerOfCompare, SaysThatNothingReachesTheLoader) {
  compare::Comparison comparison;
  comparison.same_because = "no file that changed can reach the loader";
  EXPECT_EQ(first_line(compare::answer_comparison(comparison)),
            "SAME: no file that changed can reach the loader");
}

TEST(AnswerOfCompare, ReportsExtraMemoryAfterVerdict) {
  compare::Comparison comparison = compare::test::alike();
  for (compare::SideRun& run : comparison.runs)
    run.quantities.emplace_back("memory", run.arm == 0 ? 100e6 : 130e6);
  const Answer answer = compare::answer_comparison(comparison);
  EXPECT_THAT(first_line(answer), StartsWith("SAME: "));
  EXPECT_THAT(text_of_answer(answer), HasSubstr("\nAlso:  B needs 30 % more memory"));
  EXPECT_THAT(text_of_answer(answer), Not(HasSubstr("exit code 2")));
}

// Mock-up A9.
watch::Watch watched_worker() {
  watch::Watch watch;
  watch.pid = 19102;
  watch.program = "python train_workers.py";
  watch.watched_s = 8;
  watch.processes.resize(2);
  watch.processes[0].role = watch::Role::trainer;
  watch.processes[0].shares.waits = {0.11, 0.89};
  watch.processes[1].role = watch::Role::worker;
  watch.workers_seen = 1;
  watch.workers_watched_s = 8;
  watch.workers.waits = {1.0};
  watch.waits = {true, 0.88, 100, 0.067, 0.01, "looks"};
  watch.machine.cores = 2;
  watch.machine.busy_cores = 1.2;
  judge(watch);
  return watch;
}

TEST(AnswerOfWatch, NamesWaitOfTrainer) {
  const Answer answer = watch::answer_watch(watched_worker());
  EXPECT_EQ(first_line(answer),
            "The trainer waits for batches 88 % of the time: its only worker never rests");
  const std::string text = text_of_answer(answer);
  EXPECT_THAT(text, HasSubstr("\nFix:   num_workers=2; 0.8 of 2 cores are idle\n"));
  EXPECT_THAT(text, HasSubstr("waits for a batch 88 %, computes 11 %; each wait takes 67 ms\n"));
  EXPECT_THAT(text, HasSubstr("computes 100 %\n"));
  EXPECT_THAT(text, HasSubstr("none seen here\n"));
}

TEST(AnswerOfWatch, RefersToRunIfJobHasNoWorkers) {
  watch::Watch watch;
  judge(watch);
  EXPECT_THAT(first_line(watch::answer_watch(watch)), StartsWith("Cannot tell"));
  EXPECT_THAT(text_of_answer(watch::answer_watch(watch)),
              HasSubstr("\nNext:  loaderscope run -- COMMAND"));
}

selftest::Recovery known_delay(Stage stage, double found) {
  selftest::Recovery recovery;
  recovery.pipeline = "photos";
  recovery.stage = stage;
  recovery.injected_s = 0.01;
  recovery.growth = {PerCause<double>{}};
  recovery.growth.front()[recovery.cause()] = found * recovery.injected_s;
  return recovery;
}

TEST(AnswerOfSelftest, CountsStagesWithFoundDelays) {
  selftest::Result result;
  result.stages = {known_delay(Stage::read, 1), known_delay(Stage::read, 0.99),
                   known_delay(Stage::decode, 0.98), known_delay(Stage::augment, 1.01)};
  EXPECT_EQ(first_line(answer_selftest(result)),
            "Known delays are found on this machine, in 3 of 3 stages");
  result.stages[2] = known_delay(Stage::decode, 0.5);
  result.contention = 0.2;
  EXPECT_EQ(first_line(answer_selftest(result)),
            "Known delays are found in 2 of 3 stages only: not in decode");
  EXPECT_THAT(text_of_answer(answer_selftest(result)), HasSubstr("\nNext:  run it again"));
  EXPECT_THAT(text_of_answer(answer_selftest(result)), HasSubstr("10 ms    5 ms   50 %\n"));
}

TEST(AnswerOfProfile, ReportsCapacityOfMachine) {
  probe::Profile profile = sample_profile();
  profile.demand.reset();
  profile.against.reset();
  EXPECT_EQ(first_line(probe::answer_profile(profile)), "node: 8 cores decode 7,000 images/s");
  EXPECT_THAT(text_of_answer(probe::answer_profile(profile)),
              HasSubstr("not measured: there is no data"));
}

TEST(AnswerOfProfile, WritesReasonOfSeveralRowsOnce) {
  probe::Profile profile;
  for (const char* row : {"gpus-together", "jpeg-engines", "augment-kernel"}) {
    probe::Outcome outcome;
    outcome.why_not = "built without CUDA";
    profile.probes.emplace_back(row, outcome);
  }
  const std::string text = text_of_answer(probe::answer_profile(profile));
  EXPECT_THAT(text, HasSubstr("gpus-together  not measured: built without CUDA"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("augment-kernel")));
}

TEST(AnswerOfProfile, ComparesCapacityWithDemand) {
  probe::Profile profile;
  profile.cores = 112;
  profile.probes = {{"decode", {}}, {"storage", {}}};
  profile.probes[0].second.ceilings = {{.per_s = 30'000, .per_core_s = 8 * 1786 / 52.0}};
  profile.probes[1].second.ceilings = {
      {.supply = probe::MachineResource::storage, .per_s = 50e9, .sample_bytes = 110e3}};
  judge_demand(profile, {1786, Bytes{154'000'000}, 256, 8});
  EXPECT_EQ(first_line(probe::answer_profile(profile)),
            "Enough for 8 x 1,786 samples/s: decoding needs 52 of 112 cores");
  profile.cores = 48;
  judge_demand(profile, {1786, Bytes{154'000'000}, 256, 8});
  EXPECT_EQ(first_line(probe::answer_profile(profile)),
            "Not enough for 8 x 1,786 samples/s: decoding needs 52 cores, and there are 48");
}

TEST(AnswerOfLink, ReportsFastestCopy) {
  probe::LinkMatrix matrix = sample_link();
  EXPECT_EQ(first_line(probe::answer_link(matrix)),
            "NVIDIA H100: batches are copied to it at up to 12 GB/s");
  for (probe::LinkCell& cell : matrix.cells)
    if (cell.memory == MemoryMode::pin_thread) cell.median *= 4;
  EXPECT_EQ(first_line(probe::answer_link(matrix)),
            "NVIDIA H100: batches are copied to it at up to 47 GB/s");
  EXPECT_THAT(text_of_answer(probe::answer_link(matrix)),
              HasSubstr("\nFix:   pin_memory=True                          12 GB/s -> 47 GB/s\n"));
}

TEST(AnswerOfInfo, DescribesData) {
  dataset::DatasetInfo info = sample_info();
  EXPECT_EQ(first_line(dataset::answer_info(info)), "photos: 3 images in JPEG, 300 KB");
  EXPECT_THAT(text_of_answer(dataset::answer_info(info)),
              HasSubstr("\nWrong data: 1 file is damaged: cat/cut.jpg (ends early)\nFix:   "));
  info.first_damaged.clear();
  EXPECT_THAT(text_of_answer(dataset::answer_info(info)), Not(HasSubstr("Wrong data")));
}

TEST(AnswerOfDrift, ReportsLargestDifference) {
  dataset::Drift drift = dataset::drift_between(sample_info(), sample_info());
  EXPECT_EQ(first_line(dataset::answer_drift(drift)), "A and B do not differ beyond chance");
  drift.differences = {{"width", "median 500", "median 640", 0.3, 0.01}};
  EXPECT_EQ(first_line(dataset::answer_drift(drift)),
            "A and B differ in width: median 500 in A, median 640 in B");
}

TEST(AnswersOfAllKinds, FollowsRulesForFullAndEmptyResults) {
  for (const SavedResult& saved : sample_results()) {
    SCOPED_TRACE(std::string(saved.result.kind));
    ASSERT_TRUE(saved.result.answer);
    Answer answer;
    saved.result.answer(answer);
    expect_to_be_an_answer(answer);
  }
}

}  // namespace
}  // namespace loaderscope
