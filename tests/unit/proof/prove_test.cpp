// Proofs of pipelines whose answer is known: in virtual time exact, in real time what was run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/prove.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "loaderscope/predict.h"
#include "loaderscope/report.h"
#include "predict/proof_runs.h"
#include "unit/known_answer/known_answer.h"
#include "unit/known_answer/mixed_pipelines.h"

namespace loaderscope {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// The runs of a proof in a test, and the configs that the proof asked for.
struct Runs {
  std::atomic<int> stop{0};
  std::vector<std::pair<RunConfig, Knockouts>> asked;
  std::size_t most = 1000;  // then a stop comes

  RunRecord operator()(const RunConfig& config, const Knockouts& knockouts) {
    asked.emplace_back(config, knockouts);
    if (asked.size() > most) stop = 2;
    RunContext context;
    context.knockouts = knockouts;
    context.stop_signal = &stop;
    return run_engine(config, context);
  }
  Proof prove(const RunRecord& first, const Analysis& analysis, Prove what,
              const Trial& trial = {}) {
    return loaderscope::prove(
        what, first, analysis,
        [this](const RunConfig& c, const Knockouts& k) { return (*this)(c, k); }, {}, stop, trial);
  }
  Proof prove(const RunRecord& first, Prove what = Prove::blamed) {
    return prove(first, analyse(first), what);
  }
};

// Analyses the record as one of a machine where nothing else runs.
Analysis blaming_decode(const RunRecord& record) {
  Analysis analysis = analyse(record);
  analysis.verdict = {};
  analysis.verdict.bound_by = "decode";
  analysis.verdict.candidates = {Cause::decode};
  return analysis;
}

RunRecord model_run(const std::string& settings) {
  return known_answer::run("engine=model cores=8 steps=60 warmup=8 " + settings);
}

RunRecord native_run(const std::string& settings) {
  return run_engine(known_answer::case_config(
                        "workers=2 batch=2 compute=2ms warmup=4 cost=decode=3ms:sleep " + settings),
                    {});
}

Proof model_proof(const std::string& settings, Prove what = Prove::blamed) {
  Runs runs;
  return runs.prove(model_run(settings), what);
}

// The only case: predicted and measured are the same, to the bit.
const ProofCase& exact_case(const Proof& proof) {
  EXPECT_EQ(proof.reason, "");
  EXPECT_EQ(proof.cases.size(), 1u);
  const ProofCase& only = proof.cases.at(0);
  EXPECT_EQ(only.missing, "");
  EXPECT_EQ(only.runs.size(), 1u);
  EXPECT_TRUE(only.predicted.has_value());
  if (only.predicted && !only.runs.empty()) {
    EXPECT_EQ(only.runs[0], only.predicted->after);
    EXPECT_EQ(proof.base.runs.at(0), only.predicted->base);
  }
  EXPECT_EQ(proof_outcome(proof, only).confirmed, true);
  return only;
}

// 2 workers make a batch of 4 in 40 ms each, one in 20 ms; without decode 4 ms each, and the GPU
// is always busy.
TEST(Prove, PredictsDecodeExactlyInVirtualTime) {
  const Proof proof =
      model_proof("workers=2 batch=4 compute=10ms cost=decode=9ms cost=augment=1ms");
  const ProofCase& only = exact_case(proof);
  EXPECT_EQ(only.name, "decode knocked out");
  EXPECT_NEAR(proof.base.runs[0].busy, 0.5, 1e-9);
  EXPECT_NEAR(only.runs[0].busy, 1, 1e-9);
  EXPECT_NEAR(proof_outcome(proof, only).gain.mean, 2, 1e-9);
}

TEST(Prove, PredictsEveryBlameExactlyInVirtualTime) {
  for (const char* settings :
       {"workers=2 batch=4 compute=10ms cost=read=10ms",
        "workers=2 batch=4 compute=10ms cost=augment=10ms",
        "workers=2 batch=4 compute=10ms cost=collate=40ms",
        "workers=1 batch=4 compute=10ms executor=processes cost=transport=40ms",
        "workers=2 batch=4 compute=10ms memory=pin-thread cost=pin=30ms",
        "workers=2 batch=4 compute=10ms cost=h2d=20ms",
        "workers=2 batch=4 compute=10ms samples=40 cost=startup=200ms",
        "workers=1 batch=4 compute=10ms storage-latency=10ms",
        "workers=2 batch=4 compute=10ms cost=decode=1us inject=decode=+15ms",
        "ranks=2 sync-ranks=true workers=2 batch=4 compute=10ms cost=decode=10ms",
        "workers=2 batch=4 compute=10ms cost=decode=lognormal:9ms:0.5 seed=3",
        "workers=0 batch=4 compute=10ms cost=decode=5ms"}) {
    SCOPED_TRACE(settings);
    const Proof proof = model_proof(settings);
    EXPECT_GT(proof_outcome(proof, exact_case(proof)).gain.mean, 1.05);
  }
}

TEST(Prove, ReportsNoGainIfGpuIsTheLimit) {
  const Proof proof = model_proof("workers=4 batch=4 compute=20ms cost=decode=1ms");
  const ProofCase& only = exact_case(proof);
  EXPECT_EQ(only.name, "all of the loader knocked out");
  EXPECT_NEAR(proof_outcome(proof, only).gain.mean, 1, 0.01);
}

TEST(Prove, ComparesRatesWithoutDevice) {
  const Proof proof = model_proof("device=null workers=2 batch=4 cost=decode=9ms cost=augment=1ms");
  const ProofCase& only = exact_case(proof);
  EXPECT_FALSE(proof.has_busy);
  EXPECT_NEAR(proof_outcome(proof, only).gain.mean, 10, 1e-6);
}

TEST(Prove, ReportsNoRateWithoutStages) {
  const Proof proof = model_proof("device=null workers=2 batch=4 cost=decode=9ms");
  ASSERT_EQ(proof.cases.size(), 1u);
  EXPECT_EQ(proof.cases[0].missing, "a step takes no time any more");
  EXPECT_THAT(proof.cases[0].runs, IsEmpty());
}

TEST(Prove, RunsDifferentialOfDeclaredCosts) {
  const Proof proof =
      model_proof("workers=2 batch=4 compute=10ms cost=read=6ms cost=decode=9ms", Prove::all);
  ASSERT_EQ(proof.cases.size(), 4u);
  EXPECT_NEAR(proof.cases[0].runs.at(0).busy, 1, 1e-9);          // 10 ms
  EXPECT_NEAR(proof.cases[1].runs.at(0).busy, 10.0 / 18, 1e-9);  // 4 x 9 ms on 2 workers
  EXPECT_EQ(proof.cases[2].missing, "declared samples lie in no file");
  EXPECT_THAT(proof.base.runs, IsEmpty());
}

TEST(Prove, AlternatesShortRealRuns) {
  Runs runs;
  const RunRecord first = native_run("steps=40 cost=augment=1us");
  const Proof proof = runs.prove(first, blaming_decode(first), Prove::blamed);
  ASSERT_EQ(proof.reason, "");
  ASSERT_EQ(proof.cases.size(), 1u);
  ASSERT_EQ(runs.asked.size(), 10u);
  for (std::size_t i = 0; i < runs.asked.size(); ++i) {
    const auto& [config, knockouts] = runs.asked[i];
    EXPECT_EQ(knockouts.has(Stage::decode), i % 2 == 1) << i;
    EXPECT_EQ(config.measure.steps, 20);  // a fifth of them would be too few
  }
  EXPECT_EQ(proof.cases[0].runs.size(), 5u);
  EXPECT_TRUE(proof.cases[0].predicted.has_value());
  EXPECT_TRUE(proof_outcome(proof, proof.cases[0]).confirmed.has_value());
}

TEST(Prove, KeepsMeasurementsOnStop) {
  Runs runs;
  runs.most = 4;
  const RunRecord first = native_run("steps=30");
  const Proof proof = runs.prove(first, blaming_decode(first), Prove::blamed);
  EXPECT_TRUE(proof.interrupted);
  EXPECT_EQ(proof.base.runs.size(), 2u);
  EXPECT_EQ(proof.cases.at(0).runs.size(), 2u);
  EXPECT_FALSE(proof_outcome(proof, proof.cases[0]).confirmed.has_value());

  Runs stopped;
  stopped.stop = 2;
  EXPECT_TRUE(
      stopped.prove(model_run("workers=2 batch=4 compute=10ms cost=decode=9ms")).interrupted);
  EXPECT_THAT(stopped.asked, IsEmpty());
}

TEST(Prove, EndsSearchForFindingsOnStop) {
  const RunRecord record = model_run("workers=2 batch=4 compute=10ms cost=decode=9ms");
  const std::atomic<int> stop{2};
  Analysis analysis = analyse(record);
  add_findings(analysis, record, {}, &stop);
  ASSERT_NE(advised_fix(analysis), nullptr);
  EXPECT_FALSE(advised_fix(analysis)->has_figures());
  EXPECT_THAT(analysis.notes, testing::Contains(HasSubstr("interrupted")));
}

TEST(Prove, ReportsReasonOfFailedRun) {
  std::atomic<int> stop{0};
  const RunRecord first = model_run("workers=2 batch=4 compute=10ms cost=decode=9ms");
  const auto failing = [&](const RunConfig& config, const Knockouts& knockouts) {
    if (!knockouts.empty()) throw RunError("the disk is full");
    return run_engine(config, {});
  };
  const Proof proof = prove(Prove::blamed, first, analyse(first), failing, {}, stop);
  EXPECT_EQ(proof.cases.at(0).missing, "the disk is full");
  const auto never = [](const RunConfig&, const Knockouts&) -> RunRecord {
    throw RunError("the disk is full");
  };
  EXPECT_THAT(prove(Prove::blamed, first, analyse(first), never, {}, stop).reason,
              HasSubstr("the disk is full"));
}

Proof tried(const std::string& settings, std::size_t most = 1000) {
  Runs runs;
  runs.most = most;
  const RunRecord first = model_run(settings);
  Analysis analysis = analyse(first);
  add_findings(analysis, first);
  return runs.prove(first, analysis, Prove::fix);
}

// One worker makes a batch in 40 ms, two in 20 ms each: nothing is lost to the model.
TEST(Prove, MeasuresFixThatHelps) {
  const Proof proof = tried("workers=1 batch=4 compute=10ms cost=decode=10ms:sleep");
  ASSERT_EQ(proof.reason, "");
  ASSERT_EQ(proof.cases.size(), 1u);
  const ProofCase& only = proof.cases[0];
  ASSERT_FALSE(only.changes.empty());
  EXPECT_EQ(only.changes.front().key, "num-workers");
  EXPECT_TRUE(only.knockouts.empty());
  const ProofOutcome outcome = proof_outcome(proof, only);
  EXPECT_EQ(outcome.helps, true);
  EXPECT_NEAR(outcome.gain.mean, only.predicted.value().gain(), 1e-9);
  EXPECT_NEAR(proof.base.runs.at(0).busy, 0.25, 0.01);
}

TEST(Prove, TriesNothingWithoutSetting) {
  EXPECT_THAT(tried("workers=4 batch=4 compute=20ms cost=decode=1ms").reason,
              HasSubstr("no setting is advised"));
}

// ABBA: what slows a machine down over the runs is the same for both sides.
TEST(Prove, AlternatesFixAndBase) {
  Runs runs;
  const RunRecord first = native_run("steps=40 cost=decode=3ms:sleep");
  Analysis analysis = analyse(first);
  Finding fix;
  fix.id = "too-few-workers";
  fix.waited = 0.5;
  fix.changes = fix.to_run = {{"num-workers", "3"}};
  analysis.findings = {fix};
  const Proof proof = runs.prove(first, analysis, Prove::fix);
  ASSERT_EQ(proof.reason, "");
  ASSERT_EQ(runs.asked.size(), 10u);
  const bool changed[] = {false, true, true, false, false, true, true, false, false, true};
  for (std::size_t i = 0; i < runs.asked.size(); ++i)
    EXPECT_EQ(runs.asked[i].first.loader.num_workers == 3, changed[i]) << i;
  EXPECT_EQ(proof.cases.at(0).runs.size(), 5u);
  EXPECT_TRUE(proof.cases[0].predicted.has_value());
}

// A trial of three workers, whose runs each take 20 s to start.
class Trials : public testing::Test {
 protected:
  Trials() : first_(native_run("steps=40")), analysis_(analyse(first_)) {
    Finding fix;
    fix.waited = 0.5;
    fix.changes = fix.to_run = {{"num-workers", "3"}};
    analysis_.findings = {fix};
    analysis_.verdict.withheld_reason.reset();  // a busy machine would withhold it
  }
  Proof tried(Nanos budget, Nanos call_time = 0) {
    runs_.asked.clear();
    announced_.clear();
    Nanos now = 0;
    return runs_.prove(first_, analysis_, Prove::fix,
                       {.budget = budget,
                        .start = 20 * kSecond,
                        .now = [&] { return now += call_time; },
                        .announce =
                            [&](const TrialPlan& plan) {
                              EXPECT_THAT(runs_.asked, IsEmpty());
                              announced_.push_back(plan);
                            }});
  }

  Runs runs_;
  RunRecord first_;
  Analysis analysis_;
  std::vector<TrialPlan> announced_;
};

TEST_F(Trials, ReportsPlanBeforeRuns) {
  const Proof proof = tried(1000 * kSecond);
  EXPECT_EQ(proof.reason, "");
  ASSERT_EQ(announced_.size(), 1U);
  EXPECT_EQ(changes_to_text(announced_[0].changes), "num-workers=3");
  EXPECT_EQ(announced_[0].runs, 10);
  EXPECT_EQ(std::ssize(runs_.asked), 10);
  EXPECT_GE(announced_[0].time, 10 * 20 * kSecond);
  EXPECT_LT(announced_[0].time, 10 * 22 * kSecond);
}

TEST_F(Trials, KeepsToBudget) {
  EXPECT_EQ(tried(150 * kSecond).reason, "");
  EXPECT_EQ(runs_.asked.size(), 6U);  // three pairs
  EXPECT_EQ(announced_.at(0).runs, 6);
  EXPECT_THAT(tried(60 * kSecond).reason, HasSubstr("6 runs of about 21 s each do not fit into 60 s"
                                                    "; --budget 1"));
  EXPECT_THAT(runs_.asked, IsEmpty());
  EXPECT_THAT(announced_, IsEmpty());
  // The runs take longer than the first one did, so no second pair begins.
  EXPECT_EQ(tried(1000 * kSecond, 600 * kSecond).reason, "");
  EXPECT_EQ(runs_.asked.size(), 2U);
}

TEST_F(Trials, SkipsMeasurementOfHookCost) {
  tried(150 * kSecond);
  for (const auto& [config, knockouts] : runs_.asked) EXPECT_FALSE(config.measure.hook_cost.value);
}

TEST(Prove, ReportsReasonOfImpossibleFixAtOnce) {
  Runs runs;
  const RunRecord first = native_run("steps=40");
  Analysis analysis = analyse(first);
  Finding fix;
  fix.waited = 0.5;
  fix.changes = fix.to_run = {{"prefetch-depth", "8"}};  // a setting of sample tasks
  analysis.findings = {fix};
  const Proof proof = runs.prove(first, analysis, Prove::fix);
  EXPECT_NE(proof.cases.at(0).missing, "");
  EXPECT_LE(runs.asked.size(), 1u);
}

// Pipelines that no constant was tuned for.
class MixedProof : public testing::TestWithParam<known_answer::MixedPipeline> {};

TEST_P(MixedProof, VerifiesPredictedGainOfBlame) {
  Runs runs;
  const RunRecord first = known_answer::run(std::string("engine=model ") + GetParam().settings);
  Analysis analysis = analyse(first);
  add_findings(analysis, first);
  const Proof proof = runs.prove(first, analysis, Prove::blamed);
  const ProofCase& only = exact_case(proof);
  EXPECT_GT(proof_outcome(proof, only).gain.mean, 1.01) << only.name;
}

INSTANTIATE_TEST_SUITE_P(Pipelines, MixedProof, testing::ValuesIn(known_answer::kMixedPipelines),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace loaderscope
