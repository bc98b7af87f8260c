#include "analysis/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Nanos kMs = kMillisecond;

Verdict find_verdict(const RunRecord& record) { return analyse(record).verdict; }

std::string withheld(const RunRecord& record) {
  const Verdict verdict = find_verdict(record);
  EXPECT_FALSE(verdict.bound_by);
  EXPECT_FALSE(verdict.severity);
  EXPECT_THAT(verdict.candidates, ElementsAre());
  const std::string reason = verdict.withheld_reason.value_or("");
  EXPECT_THAT(verdict.sentence, HasSubstr("no verdict: " + reason));
  return reason;
}

RunRecord with_stall(std::initializer_list<std::pair<Cause, Nanos>> stall,
                     Nanos compute = 25 * kMs) {
  return make_run_record(4, 40, [&](std::int64_t) { return make_step_plan(compute, stall); });
}

TEST(Verdict, NamesTheLeadingCause) {
  const Verdict verdict = find_verdict(usual_record());
  EXPECT_EQ(verdict.bound_by, "decode");
  EXPECT_EQ(verdict.severity, "high");
  EXPECT_FALSE(verdict.withheld_reason);
  EXPECT_EQ(verdict.sentence,
            "Simulated: the GPU waits 75.0 % of the time (±0.0), mostly for decode (60.0 %): "
            "the workers never rest");
}

TEST(Verdict, SaysForWhenOneCauseIsAll) {
  RunRecord record = make_run_record(4, 40, [](std::int64_t) {
    StepPlan plan = make_step_plan(25 * kMs, {{Cause::decode, 75 * kMs}});
    plan.why[Why::depth] = 75 * kMs;
    return plan;
  });
  EXPECT_EQ(find_verdict(record).sentence,
            "Simulated: the GPU waits 75.0 % of the time (±0.0) for decode: the workers rest "
            "once enough batches are ready, and are late later");
  record.simulated = false;
  record.config.loader.num_workers.value = 0;
  EXPECT_THAT(find_verdict(record).sentence, StartsWith("The GPU waits 75.0 %"));
}

TEST(Verdict, NamesNoCauseWhenNothingRan) {
  RunRecord record = usual_record();
  const double window = seconds(analyse(record).account.window);
  record.metrics.push_back({"host.standstill_s", "s", "", 0.5 * window});
  EXPECT_THAT(withheld(record), HasSubstr("of the window nothing of this program could run"));
  record.metrics.back().value = 0.009 * window;
  EXPECT_EQ(find_verdict(record).bound_by, "decode");
}

// 5 steps with 75 ms of waiting, 5 without any, and again: with 3 blocks of 6 steps the GPU may as
// well wait hardly ever.
TEST(Verdict, NamesNoCauseForWideInterval) {
  RunRecord record = make_run_record(5, 20, [](std::int64_t step) {
    return make_step_plan(25 * kMs, {{Cause::decode, step / 5 % 2 == 0 ? 75 * kMs : 0}});
  });
  record.config.loader.num_workers.value = 3;
  EXPECT_THAT(withheld(record),
              testing::MatchesRegex("busy may be anything from [0-9.]+ to [0-9.]+ %, more than the "
                                    "±30 points that a verdict allows; give --steps 80"));
  EXPECT_THAT(find_verdict(record).sentence,
              testing::MatchesRegex("Simulated: the GPU waits 60\\.0 % of the time "
                                    "\\([0-9.]+-[0-9.]+\\); no verdict: .*"));
}

TEST(Verdict, NeedsManyBlocksUnlessStepsAgree) {
  RunRecord record = make_run_record(4, 40, [](std::int64_t step) {
    return make_step_plan(25 * kMs, {{Cause::decode, (60 + 2 * (step % 20)) * kMs}});
  });
  record.config.loader.num_workers.value = 7;
  EXPECT_EQ(withheld(record),
            "40 steps are 2.8 blocks of 14, which gives no firm interval; give --steps 140");
  record.ranks.front() = make_rank_record(4, 40, usual_step);
  EXPECT_EQ(find_verdict(record).bound_by, "decode");
}

TEST(Verdict, NamesGpuForStallBelowFivePercent) {
  const Verdict verdict = find_verdict(with_stall({{Cause::decode, 4 * kMs}}, 96 * kMs));
  EXPECT_EQ(verdict.bound_by, "compute");
  EXPECT_EQ(verdict.severity, "none");
  EXPECT_EQ(verdict.sentence, "Simulated: the GPU is the limit: busy 96.0 % (±0.0)");
}

TEST(Verdict, CallsStallBelowTwentyPercentModerate) {
  EXPECT_EQ(find_verdict(with_stall({{Cause::decode, 19 * kMs}}, 81 * kMs)).severity, "moderate");
  EXPECT_EQ(find_verdict(with_stall({{Cause::decode, 20 * kMs}}, 80 * kMs)).severity, "high");
}

TEST(Verdict, LeavesTieUndecided) {
  // Sometimes read takes longer, sometimes decode: neither leads by more than its interval.
  const RunRecord record = make_run_record(4, 80, [](std::int64_t step) {
    const bool reads = (step * 7919) % 13 < 6;
    return make_step_plan(25 * kMs, {{Cause::decode, reads ? 20 * kMs : 50 * kMs},
                                     {Cause::read, reads ? 55 * kMs : 20 * kMs}});
  });
  const Verdict verdict = find_verdict(record);
  EXPECT_FALSE(verdict.bound_by);
  EXPECT_FALSE(verdict.withheld_reason);
  EXPECT_EQ(verdict.severity, "high");
  EXPECT_EQ(verdict.candidates.size(), 2u);
  EXPECT_THAT(verdict.sentence, HasSubstr("(cannot tell which)"));
  EXPECT_THAT(verdict.sentence, HasSubstr(" or "));
}

// Returns the verdict for a model that knows the gain without each cause.
Verdict judged_by(const RunRecord& record, std::vector<Removal> removals) {
  Analysis analysis = analyse(record);
  analysis.removals = {RemovalBasis::model, std::move(removals), 0};
  return judge(record, analysis, account_lead(record));
}

TEST(Verdict, NamesBothWhereNoneLeads) {
  const RunRecord record =
      with_stall({{Cause::decode, 37 * kMs}, {Cause::contention, 37 * kMs}}, 26 * kMs);
  EXPECT_THAT(judged_by(record, {{{Cause::decode}, 0.37}}).sentence,
              testing::HasSubstr("mostly for decode (37.0 %) and contention (37.0 %)"));
}

// 2.5 % cannot limit a stall of 20 %, so the sentence gives the gain without it.
TEST(Verdict, SaysGainWithoutSmallCause) {
  const Verdict verdict =
      judged_by(with_stall({{Cause::decode, 175 * kMs}, {Cause::contention, 25 * kMs}}, 800 * kMs),
                {{{Cause::contention}, 0.15}, {{Cause::decode}, 0.09}});
  EXPECT_EQ(verdict.bound_by, "contention");
  EXPECT_EQ(verdict.sentence,
            "Simulated: the GPU waits 20.0 % of the time (±0.0): for contention itself only 2.5 %, "
            "but without it 15.0 % of the time is gained (more threads want to run than there are "
            "cores); decode 17.5 %, but without it only 9.0 % of the time is gained, without "
            "contention 15.0 %");
}

// The first line names the programs that took the cores: no advice is of use without it.
TEST(Verdict, NamesTheProgramsThatTookTheCores) {
  RunRecord record = with_stall({{Cause::contention, 30 * kMs}}, 70 * kMs);
  record.metrics.push_back({"process.cpu_s", "s", "", 1});
  record.metrics.push_back({"host.other_cpu_s", "s", "", 3});
  record.details = {{"host.other_cpu_s", "make", 0.6}, {"host.other_cpu_s", "ninja", 0.3}};
  EXPECT_THAT(judged_by(record, {{{Cause::contention}, 0.2}}).sentence,
              testing::HasSubstr("75.0 % of it because of other programs (make, ninja)"));
  record.metrics.back().value = 0.01;
  EXPECT_THAT(judged_by(record, {{{Cause::contention}, 0.2}}).sentence,
              testing::HasSubstr("more threads want to run than there are cores"));
}

TEST(Verdict, SaysGainsOfCausesWithEqualGain) {
  const Verdict verdict =
      judged_by(with_stall({{Cause::decode, 14 * kMs}, {Cause::contention, 3 * kMs}}, 83 * kMs),
                {{{Cause::decode}, 0.17}, {{Cause::contention}, 0.17}});
  EXPECT_FALSE(verdict.bound_by);
  EXPECT_EQ(
      verdict.sentence,
      "Simulated: the GPU waits 17.0 % of the time (±0.0): without decode 17.0 % of the time is "
      "gained, without contention 17.0 % (cannot tell which)");
}

// 22 % of the account and 42 % gained without it: that is not "only".
TEST(Verdict, SaysOnlyOfWhatGivesLessThanItsShare) {
  const Verdict verdict =
      judged_by(with_stall({{Cause::decode, 20 * kMs}, {Cause::contention, 22 * kMs}}, 58 * kMs),
                {{{Cause::decode}, 0.46}, {{Cause::contention}, 0.42}});
  EXPECT_THAT(verdict.sentence, testing::EndsWith("; contention 22.0 %, and without it 42.0 % of "
                                                  "the time is gained, without decode 46.0 %"));
}

TEST(Verdict, SaysThatLimitIsUnknown) {
  const Verdict verdict =
      judged_by(with_stall({{Cause::decode, 14 * kMs}, {Cause::other, 3 * kMs}}, 83 * kMs),
                {{{Cause::other}, 0.17}, {{Cause::decode}, 0.001}});
  EXPECT_FALSE(verdict.bound_by);
  EXPECT_THAT(verdict.sentence,
              HasSubstr("): the limit is not known; decode 14.0 %, but without it"));
}

TEST(Verdict, WeighsUnknownTimeAgainstLead) {
  const Verdict verdict = find_verdict(with_stall(
      {{Cause::decode, 30 * kMs}, {Cause::read, 27 * kMs}, {Cause::other, 4 * kMs}}, 39 * kMs));
  EXPECT_FALSE(verdict.bound_by);
  EXPECT_THAT(verdict.candidates, ElementsAre(Cause::decode, Cause::read));
  EXPECT_THAT(verdict.sentence, HasSubstr("decode or read"));
}

TEST(Verdict, NamesOtherWhereItMayBeTheMost) {
  const Verdict verdict =
      find_verdict(with_stall({{Cause::decode, 2 * kMs}, {Cause::other, 4 * kMs}}, 94 * kMs));
  EXPECT_FALSE(verdict.bound_by);
  EXPECT_THAT(verdict.candidates, ElementsAre(Cause::decode, Cause::other));
}

TEST(Verdict, NamesAtMostThreeAndNoSmallThird) {
  // Each leads in some steps, so that no cause is clearly smaller than the first.
  const auto alternating = [](Nanos third, Nanos other) {
    return make_run_record(4, 80, [=](std::int64_t step) {
      const auto turn = [&](std::int64_t at) {
        return (step * 7919) % 13 % 4 == at ? 60 * kMs : 10 * kMs;
      };
      return make_step_plan(10 * kMs, {{Cause::decode, turn(0)},
                                       {Cause::read, turn(1)},
                                       {Cause::augment, third > 0 ? third : turn(2)},
                                       {Cause::h2d, third > 0 ? 0 : turn(3)},
                                       {Cause::other, other}});
    });
  };
  EXPECT_EQ(find_verdict(alternating(0, 0)).candidates.size(), 3u);
  const Verdict with_other = find_verdict(alternating(0, 4 * kMs));
  EXPECT_LE(with_other.candidates.size(), 3u);
  EXPECT_THAT(find_verdict(alternating(kMs / 2, 0)).candidates,
              testing::UnorderedElementsAre(Cause::decode, Cause::read));
}

TEST(Verdict, SpeaksOfGpusForSeveralRanks) {
  EXPECT_THAT(find_verdict(two_ranks()).sentence, StartsWith("Simulated: the GPUs wait 72.5 %"));
}

TEST(Verdict, ReportsRateWithoutCompute) {
  RunRecord record = with_stall({{Cause::decode, 60 * kMs}, {Cause::read, 40 * kMs}}, 0);
  Verdict verdict = find_verdict(record);
  EXPECT_EQ(verdict.bound_by, "decode");
  EXPECT_FALSE(verdict.severity);
  EXPECT_EQ(verdict.sentence, "Simulated: the loader gives 160 samples/s (±0), limited by decode");
  record.config.trainer.demand.set(1786);
  EXPECT_THAT(find_verdict(record).sentence, HasSubstr("; 1786/s needed: not enough, 9.0 % of it"));
  record.config.trainer.demand.set(100);
  EXPECT_THAT(find_verdict(record).sentence, HasSubstr("; 100/s needed: enough, 60.0 % to spare"));
}

TEST(Verdict, SaysCannotTellForDemandWithinInterval) {
  RunRecord record = make_run_record(4, 60, [](std::int64_t step) {
    return make_step_plan(0, {{Cause::decode, (60 + step * 31 % 17) * kMs}});
  });
  record.config.trainer.demand.set(analyse(record).samples_per_s.mean);
  EXPECT_THAT(find_verdict(record).sentence, HasSubstr("needed: cannot tell, 100.0 % of it"));
}

TEST(Verdict, ReportsRateOnNullDevice) {
  RunRecord record = usual_record();
  record.config.trainer.device.set("null");
  EXPECT_THAT(find_verdict(record).sentence, StartsWith("Simulated: the loader gives"));
}

TEST(Verdict, SaysThatTheRunWasInterrupted) {
  RunRecord record = usual_record();
  record.interrupted = true;
  EXPECT_THAT(find_verdict(record).sentence, HasSubstr("; interrupted after 40 measured steps"));
}

TEST(VerdictWithheld, NeedsTwentySteps) {
  EXPECT_THAT(withheld(make_run_record(4, 19, usual_step)),
              HasSubstr("19 steps were measured and a verdict needs 20"));
  EXPECT_EQ(find_verdict(make_run_record(4, 20, usual_step)).bound_by, "decode");
}

TEST(VerdictWithheld, SaysThatNoStepWasMeasured) {
  EXPECT_THAT(withheld(make_run_record(4, 0, usual_step)), HasSubstr("no step was measured"));
  RunRecord nothing;
  nothing.simulated = true;
  EXPECT_THAT(withheld(nothing), HasSubstr("no step was measured"));
}

TEST(VerdictWithheld, SaysThatRunIsNotSteady) {
  const RunRecord record = make_run_record(4, 64, [](std::int64_t step) {
    return make_step_plan(25 * kMs, {{Cause::decode, (step < 36 ? 60 : 90) * kMs}});
  });
  EXPECT_THAT(withheld(record), HasSubstr("not steady"));
  EXPECT_FALSE(analyse(record).steady);
}

// A program on a GPU, whose profiler started in the middle of the window.
TEST(VerdictWithheld, SaysWhichShareTheGpuMeasured) {
  RunRecord record = usual_record();
  record.config.trainer.device.set("script");
  record.program = ProgramFacts{{}, {}, true, {}};
  EXPECT_EQ(find_verdict(record).bound_by, "decode");
  record.metrics = {{"gpu.seen_share", "1", "", 0.43}};
  EXPECT_THAT(withheld(record), HasSubstr("compute is the GPU's own time in 43.0 % of the window"));
  record.metrics = {{"gpu.seen_share", "1", "", 0.005}};
  EXPECT_EQ(find_verdict(record).bound_by, "decode");
}

// 39 steps of 100 ms, and one that computes for 2 s.
RunRecord with_long_steps(std::set<std::int64_t> which) {
  return make_run_record(4, 40, [which = std::move(which)](std::int64_t step) {
    StepPlan plan = usual_step(step);
    if (which.contains(step)) plan.compute = 2'000 * kMs;
    return plan;
  });
}

TEST(VerdictWithheld, NamesStepThatTakesMuchOfWindow) {
  RunRecord record = with_long_steps({30});
  record.config.data.samples.value = 10 * kSamplesPerStep;
  EXPECT_THAT(withheld(record), HasSubstr("step 30 took the trainer 2.000 s, 33.5 % of the window "
                                          "(a profiler, a checkpoint or a validation?)"));
  const Analysis analysis = analyse(record);
  EXPECT_FALSE(analysis.steady);
  EXPECT_NEAR(analysis.epoch_predicted_s.value_or(0), 1, 0.01) << "ten of the others";
  EXPECT_TRUE(analyse(with_long_steps({20, 30})).steady) << "what comes again is part of the run";
  EXPECT_FALSE(analyse(usual_record()).long_step);
}

TEST(VerdictWithheld, ReportsLostSpans) {
  RunRecord record = usual_record();
  record.lost_spans = 1;
  EXPECT_THAT(withheld(record), HasSubstr("1 span of the measurement was lost"));
}

TEST(VerdictWithheld, ReportsShareWithoutCause) {
  EXPECT_THAT(withheld(with_stall({{Cause::decode, 69 * kMs}, {Cause::other, 6 * kMs}})),
              HasSubstr("6.0 % of the window has no known cause"));
  EXPECT_EQ(find_verdict(with_stall({{Cause::decode, 70 * kMs}, {Cause::other, 5 * kMs}})).bound_by,
            "decode");
}

TEST(VerdictWithheld, ReportsClocksThatDisagree) {
  RunRecord record = usual_record();
  RankRecord moved = make_rank_record(0, 0, usual_step);
  add_changed_steps(moved, 40, usual_step, [](StepRow& row) { row.clamped = 2 * kMs; });
  record.ranks[0] = std::move(moved);
  EXPECT_THAT(withheld(record), HasSubstr("disagree by 2.0 %"));
}

TEST(VerdictWithheld, SaysThatInputEndedInWarmUp) {
  RunRecord record = usual_record();
  record.input_ended_in_warmup = true;
  EXPECT_THAT(withheld(record), HasSubstr("ended inside the warm-up"));
  EXPECT_FALSE(analyse(record).steady);
}

TEST(VerdictWithheld, SaysThatWarmUpWasInterrupted) {
  RunRecord record = usual_record();
  record.input_ended_in_warmup = record.interrupted = true;
  EXPECT_THAT(withheld(record), HasSubstr("interrupted inside the warm-up"));
  EXPECT_THAT(find_verdict(record).sentence,
              testing::ContainsRegex("; interrupted after [0-9]+ steps"));
}

TEST(Explain, ExplainsEveryKnownCause) {
  Account account;
  account.why[Why::latency] = 1;
  const RunRecord record;
  for (const auto& word : Words<Cause>::table()) {
    EXPECT_EQ(explain(word.value, account, record).empty(), word.value == Cause::other)
        << word.name;
  }
}

TEST(Explain, BlamesAnotherLoaderForLaunchWait) {
  Account account;
  account.stall[Cause::launch] = 10;
  RunRecord record;
  record.ranks.resize(1);
  record.ranks[0].stages[Stage::launch].wall = 5;
  EXPECT_THAT(explain(Cause::launch, account, record), HasSubstr("the trainer is slow"));
  record.loaders.resize(2);
  EXPECT_THAT(explain(Cause::launch, account, record), HasSubstr("another loader"));
  account.stall[Cause::launch] = 11;
  EXPECT_THAT(explain(Cause::launch, account, record), HasSubstr("the trainer is slow"));
}

TEST(Explain, BlamesLongestRankForLaunchWait) {
  Account account;
  account.stall[Cause::launch] = account.launching = 10;
  RunRecord record;
  record.ranks.resize(2);
  const auto words = [&] { return explain(Cause::launch, account, record); };
  EXPECT_THAT(words(), HasSubstr("the trainer is slow"));
  account.waiting_for_ranks = 5;
  EXPECT_THAT(words(), HasSubstr("the rank whose step is longest"));
  record.ranks[0].stages[Stage::launch].wall = record.ranks[1].stages[Stage::launch].wall = 6;
  EXPECT_THAT(words(), HasSubstr("the trainer is slow"));
}

}  // namespace
}  // namespace loaderscope
