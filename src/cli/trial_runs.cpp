#include "cli/trial_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/thread_meter.h"
#include "cli/measure.h"
#include "experiment/prediction_history.h"
#include "predict/proof_runs.h"
#include "source/cache_folder.h"

namespace loaderscope {
namespace {

void remember(const Proof& proof) {
  if (proof.exact || proof.interrupted) return;
  const PredictionHistory history(source::user_cache_folder());
  for (const ProofCase& of : proof.cases) {
    if (!of.predicted || of.runs.empty()) continue;
    history.add(of.predicted->after.samples_per_s, outcome_of(proof, of).samples_per_s.mean);
  }
}

void say_second_run() {
  std::fputs(
      "loaderscope: --prove runs the command again, alternates its loader with batches that it had "
      "before, and ends it\n",
      stderr);
}

// "90 s", "4 min"
std::string format_about(Nanos time) {
  constexpr std::int64_t kFewSeconds = 120;
  const std::int64_t s = (time + kSecond - 1) / kSecond;
  return s <= kFewSeconds ? fmt::format("{} s", s) : fmt::format("{} min", (s + 59) / 60);
}

void say_more_runs(const TrialPlan& plan, bool is_program) {
  const std::string text =
      fmt::format("loaderscope: testing {} with {} short runs{} of {}, about {}\n",
                  changes_to_text(plan.changes), plan.runs, is_program ? " of your program" : "",
                  plural(plan.steps, "step"), format_about(plan.time));
  std::fputs(text.c_str(), stderr);
}

}  // namespace

Nanos start_of_run(const RunRecord& record, Nanos begin, Nanos took) {
  if (record.ranks.empty()) return 0;
  const RankRecord& rank = record.ranks.front();
  const Nanos start = rank.window_begin - begin;
  return start > 0 && start < took ? start : std::max<Nanos>(0, took - rank.window());
}

Nanos budget_of_trial(const CommandFlags& own, const RunConfig& given) {
  constexpr Nanos kUsualBudget = 180 * kSecond;
  if (own.is_given("budget") && given.answer.prove != Prove::fix)
    own.refuse("budget", "is for the runs of --try, which is missing");
  const Nanos budget = own.value("budget", parse_duration, kUsualBudget);
  if (budget <= 0) own.refuse("budget", "expected a time above 0, such as 3m");
  return budget;
}

void add_proof(Analysis& analysis, const RunRecord& record, const MachineFacts& machine,
               Trial trial, const std::atomic<int>& stop_signal) {
  trial.now = monotonic_now;
  trial.announce = [&](const TrialPlan& plan) {
    say_more_runs(plan, record.config.program.command.given);
  };
  const auto measure_without = [&](const RunConfig& config, const Knockouts& knockouts) {
    return measure(config, machine, {}, stop_signal, knockouts);
  };
  const auto measure_turns = [&](const RunConfig& config, const ReplaySchedule& turns) {
    if (config.program.command.given) say_second_run();
    return measure(config, machine, {}, stop_signal, {}, &turns);
  };
  analysis.proof = prove(record.config.answer.prove, record, analysis, measure_without,
                         measure_turns, stop_signal, trial);
  remember(*analysis.proof);
}

}  // namespace loaderscope
