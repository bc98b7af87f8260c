// The findings of a run, weighed by the model fitted to it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <iterator>
#include <utility>
#include <vector>

#include "analysis/findings/conclude.h"
#include "analysis/findings/subject.h"
#include "analysis/removal.h"
#include "analysis/stragglers.h"
#include "analysis/verdict.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "loaderscope/findings.h"
#include "loaderscope/predict.h"
#include "predict/fitted_model.h"
#include "predict/slowest_host.h"
#include "predict/stall_split.h"
#include "record/environment_changes.h"
#include "record/family_traits.h"
#include "settings/engine_table.h"

namespace loaderscope {
namespace {

// Predicts the run without some causes. Empty for a cause that the model cannot leave out.
using PredictWithout = std::function<Prediction(const Changes&, const Knockouts&)>;

constexpr double kLookedAt = 0.002;  // share of the window, in the account or on the critical path

// The changes with which the model runs without a cause.
struct Without {
  Knockouts knockouts;
  Changes changes;

  bool possible() const { return !knockouts.empty() || !changes.empty(); }
};

Without without(Cause cause, const RunConfig& config) {
  switch (cause) {
    case Cause::read:
      return {{Stage::read, Stage::read_decompress}, {}};
    case Cause::decode:
      return {{Stage::decode}, {}};
    case Cause::augment:
      return {{Stage::augment}, {}};
    case Cause::collate:
      return {{Stage::collate}, {}};
    case Cause::opaque:
      return {{Stage::opaque}, {}};
    case Cause::transport:
      return {{Stage::transport, Stage::transport_recv}, {}};
    case Cause::pin:
      return {{Stage::pin}, {}};
    case Cause::h2d:
      return {{Stage::h2d}, {}};
    case Cause::launch:
      return {{Stage::launch}, {}};
    case Cause::startup:
      return {{Stage::startup, Stage::startup_parent}, {}};
    case Cause::contention:
      return {{},
              {{"cores", "65536"},
               {"num-workers", std::to_string(config.loader.num_workers)},
               {std::string(kOtherThreads), "0"}}};
    case Cause::prefetch:
    case Cause::other:
      return {};
  }
  return {};
}

Without without(const std::vector<Cause>& causes, const RunConfig& config) {
  Without all;
  for (Cause cause : causes) {
    const Without one = without(cause, config);
    if (!one.possible()) return {};
    for (const auto& word : Words<Stage>::table())
      if (one.knockouts.has(word.value)) all.knockouts.add(word.value);
    all.changes.insert(all.changes.end(), one.changes.begin(), one.changes.end());
  }
  return all;
}

// A run that is left without any cost takes no time: it saves all of it.
double saving(const Prediction& after) {
  if (after.account.window <= 0 || after.gain() <= 0) return 1;
  return std::max(0.0, 1 - 1 / after.gain());
}

// Each on a core of its own, as far as there are any.
std::vector<Removal> run_without(const std::vector<std::vector<Cause>>& sets,
                                 const Prediction& base, const PredictWithout& predict) {
  std::vector<std::future<Removal>> running;
  for (const std::vector<Cause>& causes : sets) {
    const Without out = without(causes, base.config);
    if (!out.possible()) continue;
    running.push_back(std::async(std::launch::async, [causes, out, &predict] {
      try {
        return Removal{causes, saving(predict(out.changes, out.knockouts))};
      } catch (const UsageError&) {
        return Removal{causes, 0};  // the change contradicts other settings
      } catch (const RunError&) {
        return Removal{causes, 1};  // no stage takes time
      }
    }));
  }
  std::vector<Removal> removals;
  for (auto& one : running) removals.push_back(one.get());
  sort_by_saving(removals);
  return removals;
}

std::vector<std::vector<Cause>> worth_a_look(const RemovalGains& recorded, const Account& account) {
  std::vector<std::vector<Cause>> sets;
  for (std::size_t c = 0; c < kCauses; ++c) {
    const auto cause = static_cast<Cause>(c);
    if (std::max(recorded.saves(cause), window_share(account.stall[cause], account)) >= kLookedAt)
      sets.push_back({cause});
  }
  return sets;
}

// A cause that hides another one has the largest part of the account. The hidden one may have none.
std::vector<std::vector<Cause>> pairs_with_largest(const Account& account) {
  const auto largest = static_cast<Cause>(
      std::max_element(account.stall.begin(), account.stall.end()) - account.stall.begin());
  std::vector<std::vector<Cause>> pairs;
  for (const auto& word : Words<Cause>::table())
    if (word.value != largest) pairs.push_back({largest, word.value});
  return pairs;
}

// Uses a model whose error on the run itself is `error`. Leaves out the causes one by one, and in
// pairs if no cause alone saves time.
RemovalGains removals_in_model(const RemovalGains& recorded, const Account& account,
                               const Prediction& base, double error,
                               const PredictWithout& predict) {
  RemovalGains removals;
  removals.basis = RemovalBasis::model;
  removals.error = error;
  removals.list = run_without(worth_a_look(recorded, account), base, predict);
  if (!removals.list.empty() && removals.list.front().saves >= kMinUsefulGain) return removals;
  for (Removal& pair : run_without(pairs_with_largest(account), base, predict)) {
    if (pair.saves >= kMinUsefulGain) removals.list.push_back(std::move(pair));
  }
  sort_by_saving(removals.list);
  return removals;
}

bool is_about_one(const Finding& finding) {
  return finding.id == kStragglerRank || finding.id == "straggler-worker";
}

// A rank that the others wait for is the subject of the answer: its finding comes first, with what
// the job would give were it like the others, where `model` is there to say so. The other findings
// are of that rank, or of the slowest one, and say so.
void lead_with_straggler(const RunRecord& record, const Analysis& analysis,
                         const FittedModel* model, std::vector<Finding>& findings) {
  const std::vector<std::size_t> slow = ranks_of_subject(record, analysis);
  if (slow.empty()) return;
  for (Finding& finding : findings) {
    if (!is_about_one(finding))
      finding.evidence = "on " + describe_ranks(slow) + ": " + finding.evidence;
  }
  const auto found = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.id == kStragglerRank;
  });
  if (found == findings.end()) return;
  std::rotate(findings.begin(), found, found + 1);
  if (model != nullptr)
    add_figures(findings.front(), analysis, model->predict_like_others(slow, kSamplesOfPrediction));
}

void add_stall_split(Analysis& analysis, const FittedModel& model, const Prediction& base) {
  if (!analysis.has_busy) return;
  const Prediction at_means = model.predict_at_means();
  analysis.starved = model::starved(analysis.account, base, at_means);
  analysis.depth = model::ready_depth(model, base, at_means);
}

// Judges the causes again by knock-outs in the model, which show best what each cause costs.
void judge_again(Analysis& analysis, const RunRecord& record, const PredictWithout& predict,
                 const Prediction& base, const std::atomic<int>* stop_signal) {
  const double error = std::abs(analysis.fit->rate_error);
  RemovalGains removals =
      removals_in_model(analysis.removals, analysis.account, base, error, predict);
  if (stop_signal != nullptr && stop_signal->load() != 0) return;
  analysis.removals = std::move(removals);
  analysis.verdict = judge(record, analysis, account_lead(record));
}

// Adds notes on how far the prediction of the advised change goes beyond the measurements.
void note_extrapolations(Analysis& analysis, const std::vector<Finding>& findings,
                         const FittedModel& model) {
  const auto first = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& finding) { return finding.is_worth_doing(); });
  if (first == findings.end()) return;
  for (std::string& note : model.extrapolations(first->changes))
    analysis.fit_notes.push_back(std::move(note));
}

// Returns the findings with their gains. Returns nothing if the model does not reproduce the run.
// Throws RunError or UsageError if no model can be made.
std::optional<std::vector<Finding>> weigh(Analysis& analysis, const RunRecord& record,
                                          const std::atomic<int>* stop_signal) {
  const FittedModel model(record, stop_signal);
  const Prediction base = model.predict({});
  const auto predict = [&](const Changes& changes) {
    return changes.empty() ? base : model.predict(changes);
  };
  analysis.fit = goodness_of_fit(analysis, model.fitted());
  analysis.fit_notes = model.notes();
  if (!analysis.fit->can_predict()) return std::nullopt;
  const auto without = [&](const Changes& changes, const Knockouts& knockouts) {
    return model.predict(changes, kSamplesOfPrediction, knockouts);
  };
  judge_again(analysis, record, without, base, stop_signal);
  std::vector<Finding> findings = find_causes(record, analysis, predict);
  lead_with_straggler(record, analysis, &model, findings);
  note_extrapolations(analysis, findings, model);
  add_stall_split(analysis, model, base);
  analysis.what_it_takes = what_it_takes(analysis, base, predict);
  return findings;
}

// Does the same for a job that is as fast as one of its hosts. It uses that host, limited by the
// speed of the other hosts.
std::optional<std::vector<Finding>> weigh_slowest(Analysis& analysis, const RunRecord& record,
                                                  const SlowestHost& slowest,
                                                  const std::atomic<int>* stop_signal) {
  const FittedModel model(slowest.record, stop_signal);
  const OtherHosts others(slowest.others, stop_signal);
  const Prediction base = model.predict({});
  const auto without = [&](const Changes& changes, const Knockouts& knockouts) {
    return others.hold_back(model.predict(changes, kSamplesOfPrediction, knockouts), changes,
                            knockouts);
  };
  const auto predict = [&](const Changes& changes) {
    return changes.empty() ? base : without(changes, {});
  };
  analysis.fit = goodness_of_fit(slowest.analysis, model.fitted());
  analysis.fit_notes = model.notes();
  analysis.fit_notes.insert(analysis.fit_notes.begin(),
                            "of " + slowest.name + ", as far as the other hosts can follow it");
  if (!analysis.fit->can_predict()) return std::nullopt;
  judge_again(analysis, record, without, base, stop_signal);
  std::vector<Finding> findings = find_causes(slowest.record, slowest.analysis, predict);
  note_extrapolations(analysis, findings, model);
  rewrite_for_job(record, analysis, slowest, others.predict_slowest(base), findings);
  add_stall_split(analysis, model, base);
  analysis.what_it_takes = what_it_takes(analysis, base, predict);
  return findings;
}

std::optional<std::vector<Finding>> try_to_weigh(Analysis& analysis, const RunRecord& record,
                                                 const std::optional<SlowestHost>& slowest,
                                                 const std::atomic<int>* stop_signal) {
  // A trace does not contain what the model needs to run it again.
  if (analysis.verdict.withheld_reason || is_trace_engine(record.engine)) return std::nullopt;
  try {
    return slowest ? weigh_slowest(analysis, record, *slowest, stop_signal)
                   : weigh(analysis, record, stop_signal);
  } catch (const RunError& error) {
    analysis.notes.push_back(std::string("no predictions: ") + error.what());
  } catch (const UsageError& error) {
    analysis.notes.push_back(std::string("no predictions: ") + error.what());
  }
  return std::nullopt;
}

// Returns findings about waits without gains, if no prediction exists.
std::vector<Finding> directions(const RunRecord& record, const Analysis& analysis,
                                const std::optional<SlowestHost>& slowest) {
  if (!slowest) {
    std::vector<Finding> findings = find_directions(record, analysis);
    lead_with_straggler(record, analysis, nullptr, findings);
    return findings;
  }
  std::vector<Finding> findings = find_directions(slowest->record, slowest->analysis);
  rewrite_for_job(record, analysis, *slowest, std::nullopt, findings);
  return findings;
}

}  // namespace

void add_findings(Analysis& analysis, const RunRecord& record, const PastPredictions& past,
                  const std::atomic<int>* stop_signal) {
  // The errors of predictions of real runs do not apply to a simulation.
  if (!is_model_engine(record.engine)) analysis.past = past;
  analysis.findings = find_wrong_data(record, analysis);
  const std::optional<SlowestHost> slowest = slowest_host(record, analysis);
  std::optional<std::vector<Finding>> findings =
      try_to_weigh(analysis, record, slowest, stop_signal);
  if (!findings) findings = directions(record, analysis, slowest);
  if (is_trace_engine(record.engine)) {
    // A trace does not name its program, so no command can be made.
    for (Finding& finding : *findings) finding.changes = finding.to_run = {};
  }
  std::move(findings->begin(), findings->end(), std::back_inserter(analysis.findings));
  if (!is_trace_engine(record.engine)) conclude(analysis, record);
}

}  // namespace loaderscope
