// Candidates of the table of findings, weighted by the gain that the model predicts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "analysis/findings/subject.h"
#include "analysis/wording.h"
#include "predict/search_fix.h"

namespace loaderscope {
namespace {

constexpr double kContradicts = 0.05;  // share of the window beyond a claimed limit
// Share of the window. Findings with similar gains keep the order of the table, settings first.
constexpr double kAlike = kAboutAsMuch;

// Returns true if the model predicts that a change exceeds the limit that the candidate claims.
bool is_contradicted(const Candidate& candidate, const Predictor& predict) {
  if (candidate.limits.empty()) return false;
  const std::optional<Prediction> changed = predicted(predict, candidate.limits);
  return changed && regained_share(*changed) >= kContradicts;
}

// Returns the busy share that a setting may cost. A setting that saves time must cost none.
double may_lose(const FindingRow& row) {
  return row.gives_back == Benefit::resources ? kAboutAsMuch : kVisible;
}

struct Weighing {
  const FindingRow* row;
  Candidate candidate;
  std::future<std::optional<FixCandidate>> best;
};

// Each on a core of its own, as far as there are any: a prediction may take a second.
void weigh_all(std::vector<Weighing>& weighings, const Prediction& base, const Predictor& predict) {
  for (Weighing& weighing : weighings) {
    weighing.best = std::async(std::launch::async, [&weighing, &base, &predict] {
      if (is_contradicted(weighing.candidate, predict)) return std::optional<FixCandidate>();
      return search_fix(weighing.candidate, base, predict, may_lose(*weighing.row));
    });
  }
}

// "; num-workers=24 gives more, 1,200 samples/s"
std::string describe_best_change(const Analysis& measured, const FixCandidate& option) {
  const ScaledPrediction best = scale_prediction(measured, *option.best);
  return fmt::format("; {} gives more, {} samples/s", changes_to_text(option.best_changes),
                     format_rate(best.rate_after));
}

// If the change brings work that was never measured, only a direction can be given.
Finding cause_finding(const FindingInput& facts, const FindingRow& row, const Candidate& candidate,
                      const FixCandidate& option) {
  const Analysis& measured = facts.analysis;
  const bool is_direction = !option.prediction.is_known() && !candidate.direction.empty();
  Finding finding =
      build_finding(facts, row, candidate, is_direction ? candidate.direction : option.changes);
  if (finding.changes.empty()) return finding;
  add_memory(facts, finding);
  const bool saves = row.gives_back != Benefit::nothing && option.regained >= kMinReportedShare;
  finding.regained_s = saves ? option.regained * seconds(measured.account.window) : 0;
  finding.hoped_gain = option.prediction.gain() - 1;
  finding.removes = option.prediction.removes();
  if (!option.prediction.is_known()) return finding;
  if (option.best) finding.evidence += describe_best_change(measured, option);
  const ScaledPrediction promise = scale_prediction(measured, option.prediction);
  finding.rate_before = promise.rate_before;
  finding.rate_after = promise.rate_after;
  if (const auto resident =
          resident_gain(option.prediction, promise.rate_before, promise.rate_after))
    finding.evidence += "; it " + resident->sentence();
  finding.may_be_off = option.prediction.may_be_off;
  finding.is_ceiling = row.gives_back == Benefit::nothing;
  // With less to compute a smaller share is no loss, and no benefit either.
  if (lost_busy(option.prediction) > may_lose(row)) return finding;
  finding.busy_before = promise.busy_before;
  finding.busy_after = promise.busy_after;
  return finding;
}

struct Weighed {
  Finding finding;
  double gain;  // share of the window
};

std::vector<Finding> sort_by_gain(std::vector<Weighed> weighed) {
  const auto weight = [](const Weighed& one) { return std::floor(one.gain / kAlike + 0.5); };
  std::stable_sort(weighed.begin(), weighed.end(),
                   [&](const Weighed& a, const Weighed& b) { return weight(a) > weight(b); });
  std::vector<Finding> findings;
  for (Weighed& one : weighed) findings.push_back(std::move(one.finding));
  return findings;
}

// Sets the gain as if all of the wait that the finding explains were gone.
void give_waited(Finding& finding, const Analysis& analysis) {
  finding.hoped_gain = finding.waited < 1 ? finding.waited / (1 - finding.waited) : 0;
  finding.regained_s = finding.waited * seconds(analysis.account.window);
}

}  // namespace

std::vector<Finding> find_causes(const RunRecord& record, const Analysis& analysis,
                                 const Predictor& predict) {
  const Subject subject(record, analysis);
  const FindingInput& facts = subject.facts();
  const Predictor known = memoize(predict);
  const Prediction base = known({});
  std::vector<Weighing> weighings;
  for (const FindingRow& row : finding_table()) {
    if (row.gives_back == Benefit::correct_data) continue;
    if (std::optional<Candidate> candidate = look_at(row, facts))
      weighings.push_back({&row, std::move(*candidate), {}});
  }
  weigh_all(weighings, base, known);

  std::vector<Weighed> weighed;
  for (Weighing& weighing : weighings) {
    const std::optional<FixCandidate> option = weighing.best.get();
    if (!option) continue;
    const FindingRow& row = *weighing.row;
    const double least = row.gives_back == Benefit::time ? kMinReportedShare : -kAboutAsMuch;
    if (!weighing.candidate.gives_waited && option->regained < least) continue;
    Finding finding = cause_finding(facts, row, weighing.candidate, *option);
    const double predicted_gain = finding.regained_s / seconds(analysis.account.window);
    const double gain = weighing.candidate.gives_waited ? finding.waited : predicted_gain;
    if (weighing.candidate.gives_waited) give_waited(finding, analysis);
    weighed.push_back({std::move(finding), gain});
  }
  std::vector<Finding> findings = sort_by_gain(std::move(weighed));
  put_fix_first(findings, [](const Finding& finding) { return finding.gain(); });
  drop_repeated(findings);
  return findings;
}

}  // namespace loaderscope
