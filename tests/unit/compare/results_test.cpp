// Two results that were measured apart: whether they can be compared, and what one run of each
// says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>

#include "experiment/compare/comparability.h"
#include "experiment/compare/compare.h"
#include "experiment/compare/noise_history.h"
#include "loaderscope/errors.h"
#include "report/compare_text.h"

namespace loaderscope::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

RunRecord record(double samples_per_s) {
  RunRecord result;
  result.engine = "native";
  result.tool_version = "1";
  result.machine = {.cpu = "Z80", .os = "Linux", .kernel = "6", .cores = 2, .host = "here"};
  result.config.measure.steps.set(20);
  RankRecord rank;
  const auto step = static_cast<Nanos>(8e9 / samples_per_s);
  for (std::int64_t i = 0; i < 20; ++i) {
    StepRow row;
    row.step = i;
    row.idle_begin = i * step;
    row.compute_begin = row.compute_end = (i + 1) * step;
    row.samples = 8;
    row.stall[Cause::decode] = step;
    rank.rows.push_back(row);
  }
  rank.window_end = 20 * step;
  rank.samples = 160;
  rank.stages[Stage::decode].add(step, step, 0, 0);
  result.ranks.push_back(std::move(rank));
  result.metrics = {{"process.cpu_s", "s", "", 160 / samples_per_s}};
  return result;
}

TEST(Comparability, FindsDifferenceOfEachRow) {
  const RunRecord one = record(100);
  EXPECT_THAT(check_comparability(one, one).forbids, IsEmpty());
  EXPECT_THAT(check_comparability(one, one).warns, IsEmpty());
  const std::vector<std::pair<const char*, std::function<void(RunRecord&)>>> changes = {
      {"A was interrupted", [](RunRecord& r) { r.interrupted = true; }},
      {"the engine is torch in A and native in B", [](RunRecord& r) { r.engine = "torch"; }},
      {"the CPU is 6502 in A and Z80 in B", [](RunRecord& r) { r.machine.cpu = "6502"; }},
      {"what may be used is 4 cores in A", [](RunRecord& r) { r.machine.cores = 4; }},
      {"what the machine has of GPUs is 2 x H100 in A and none in B",
       [](RunRecord& r) { r.machine.gpus = "2 x H100"; }},
      {"the device is cuda in A and sim in B",
       [](RunRecord& r) { r.config.trainer.device.value = "cuda"; }},
      {"the data is photos in A and not given in B",
       [](RunRecord& r) { r.config.data.paths.value = {"photos"}; }},
      {"the number of samples is 7 in A and 9 in B",
       [](RunRecord& r) {
         r.metrics.push_back({"data.epoch_samples", "1", "", 7});
       }},
      {"the data has other samples",
       [](RunRecord& r) {
         r.metrics.push_back({"data.fingerprint", "1", "", 5});
       }},
      {"the batch size is 8 in A and 64 in B",
       [](RunRecord& r) { r.config.loader.batch_size.value = 8; }},
      {"A has no verdict: no step was measured",
       [](RunRecord& r) { r.ranks[0].rows = StepRows(); }},
      {"steps is 30 in A and 20 in B", [](RunRecord& r) { r.config.measure.steps.value = 30; }},
      {"the share of the data in the page cache is 10.0 % in A and 90.0 % in B",
       [](RunRecord& r) {
         r.metrics.push_back({"cache.resident_bytes", "bytes", "", 10});
       }},
      {"the memory is", [](RunRecord& r) { r.machine.memory_bytes = 7; }},
      {"the machine is there in A and here in B", [](RunRecord& r) { r.machine.host = "there"; }},
      {"the GPU's driver is 535 in A and none in B",
       [](RunRecord& r) { r.machine.gpu_driver = "535"; }},
      {"the kernel is Linux, 5 in A", [](RunRecord& r) { r.machine.kernel = "5"; }},
      {"the version is 2 in A", [](RunRecord& r) { r.tool_version = "2"; }},
  };
  EXPECT_EQ(changes.size(), comparability_table().size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    RunRecord other = record(100), base = record(100);
    changes[i].second(other);
    base.metrics.push_back({"data.epoch_samples", "1", "", 9});
    base.metrics.push_back({"data.fingerprint", "1", "", 6});
    base.metrics.push_back({"cache.resident_bytes", "bytes", "", 90});
    base.metrics.push_back({"cache.checked_bytes", "bytes", "", 100});
    other.metrics.push_back({"cache.checked_bytes", "bytes", "", 100});
    const std::string difference = comparability_table()[i].difference(other, base);
    EXPECT_THAT(difference, HasSubstr(changes[i].first)) << comparability_table()[i].row.name;
  }
}

TEST(Results, RefusesUnlikeResults) {
  RunRecord other = record(100);
  other.machine.cores = 8;
  EXPECT_THROW(compare_two_runs(record(100), other, std::nullopt), RunError);
}

TEST(Results, UsesDefaultSpreadWithoutHistory) {
  const auto judged = [](double a, double b) {
    return judge(compare_two_runs(record(a), record(b), std::nullopt));
  };
  EXPECT_EQ(judged(100, 75).verdict, Outcome::worse);
  EXPECT_EQ(judged(100, 140).verdict, Outcome::better);
  EXPECT_EQ(judged(100, 90).verdict, Outcome::cannot_tell);
  RunRecord more = record(100);
  more.ranks[0].read_bytes = 500;
  EXPECT_EQ(judge(compare_two_runs(record(100), more, std::nullopt)).verdict, Outcome::worse);
}

std::string answer_text(const Comparison& comparison) {
  return answer_line(comparison, judge(comparison)) + "\n" + settings_line(comparison);
}

// Result of a fix that sets the workers and, with them, the executor.
RunRecord with_two_workers(double samples_per_s) {
  RunRecord after = record(samples_per_s);
  after.config.loader.num_workers.value = 2;
  after.config.loader.executor.value = Executor::processes;
  return after;
}

TEST(Results, AnswersWhetherAFixHelpedAndNamesTheSettingsThatDiffer) {
  RunRecord before = record(100);
  before.config.loader.executor.value = Executor::inline_;
  const Comparison comparison = compare_two_runs(before, with_two_workers(180), std::nullopt);
  EXPECT_EQ(judge(comparison).verdict, Outcome::better);
  EXPECT_THAT(answer_text(comparison),
              StartsWith("FASTER: B gives 180 samples/s, A gave 100 (+80.0 %)"));
  EXPECT_THAT(answer_text(comparison),
              HasSubstr("settings that differ: executor inline -> processes, "
                        "num-workers 0 -> 2"));
  const Comparison small = compare_two_runs(before, with_two_workers(105), std::nullopt);
  EXPECT_THAT(answer_text(small),
              StartsWith("CANNOT TELL: B gives 105 samples/s, A gave 100 (+5.0 %)"
                         "; one run of each shows no change below"));
}

TEST(Results, NamesWordsThatDifferBetweenCommands) {
  RunRecord before = record(100), after = record(180);
  before.config.program.command.value = {"python", "train.py", "--workers", "0"};
  after.config.program.command.value = {"python", "train.py", "--workers", "2"};
  EXPECT_THAT(compare_two_runs(before, after, std::nullopt).changed_settings,
              ElementsAre("command ... 0 -> 2"));
  after.config.program.command.value = {"python", "-m", "torchrun", "train.py"};
  after.config.trainer.ranks.value = 2;
  EXPECT_THAT(
      compare_two_runs(before, after, std::nullopt).changed_settings,
      ElementsAre("ranks 1 -> 2", "command ... train.py --workers 0 -> -m torchrun train.py"));
}

TEST(Results, NamesOtherDataWithoutRefusal) {
  RunRecord after = record(200);
  after.config.data.paths.value = {"small"};
  after.metrics.push_back({"data.fingerprint", "1", "", 5});
  RunRecord before = record(100);
  before.metrics.push_back({"data.fingerprint", "1", "", 6});
  const Comparison comparison = compare_two_runs(before, after, std::nullopt);
  EXPECT_THAT(answer_text(comparison), HasSubstr("data none -> small"));
  EXPECT_THAT(comparison.notes, testing::Contains(HasSubstr("the data has other samples")));
}

// A fix may take more CPU time and do other work: the rate says whether it helped.
TEST(Results, JudgesOtherSettingsByRateAlone) {
  RunRecord after = with_two_workers(100);
  after.metrics[0].value *= 3;
  after.ranks[0].read_bytes = 500;
  EXPECT_EQ(judge(compare_two_runs(record(100), after, std::nullopt)).verdict,
            Outcome::cannot_tell);
  after.config.loader = record(100).config.loader;
  EXPECT_EQ(judge(compare_two_runs(record(100), after, std::nullopt)).verdict, Outcome::worse);
}

TEST(Results, ReportsChangeBeyondKnownSpread) {
  const KnownNoise known{.rate = 0.03, .cpu = 0.02, .jobs = 3};
  const auto judged_verdict = [&](double a, double b) {
    return judge(compare_two_runs(record(a), record(b), known)).verdict;
  };
  EXPECT_EQ(judged_verdict(100, 70), Outcome::worse);
  EXPECT_EQ(judged_verdict(100, 130), Outcome::better);
  EXPECT_EQ(judged_verdict(100, 95), Outcome::cannot_tell);
  // 3.9 standard errors of CPU time: of a spread seen in a dozen runs that is not yet sure.
  EXPECT_EQ(judged_verdict(100, 89.5), Outcome::cannot_tell);
}

TEST(Results, SumsWorkersOfAllRanks) {
  RunRecord two = record(100);
  two.config.loader.num_workers.set(3);
  two.ranks.push_back(std::move(record(100).ranks.front()));
  EXPECT_EQ(compare_two_runs(two, two, std::nullopt).workers, 6);
}

TEST(Results, IgnoresCountsOfOtherSeeds) {
  RunRecord other = record(100);
  other.config.measure.seed.value = 1;
  EXPECT_THAT(judge(compare_two_runs(record(100), other, std::nullopt)).counts, IsEmpty());
}

TEST(NoiseHistory, UsesWidestNoiseOfThisMachine) {
  const auto spread = find_noise(
      "0.01 0.02 2 cores of Z80\n0.03 0.01 2 cores of Z80\n0.5 0.5 8 cores of Z80\nrubbish\n-1 2 2 "
      "cores of Z80\n1e99 1 2 cores of Z80\n0.1",
      "2 cores of Z80");
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->jobs, 2);
  EXPECT_EQ(spread->cpu, 0.03);
  EXPECT_EQ(spread->rate, 0.02);
  EXPECT_FALSE(find_noise("", "2 cores of Z80"));
}

}  // namespace
}  // namespace loaderscope::compare
