// What the rows see, weighed by what the model says that mending it gives back.
#include <algorithm>
#include <cmath>

#include "analysis/findings/facts.h"

namespace loaderscope {
namespace {

constexpr double kAboutAsMuch = 0.01;  // of the window: a larger change must give back more
constexpr double kAlike = 0.001;       // of the window: closer findings keep the table's order

double busy_of(const Prediction& prediction) {
  const Account& account = prediction.account;
  if (!prediction.has_busy() || account.window <= 0) return 0;
  return static_cast<double>(account.compute) / static_cast<double>(account.window);
}

// Of the window that the same samples would take less.
double regained_share(const Prediction& base, const Prediction& changed) {
  return changed.samples_per_s > 0 ? 1 - base.samples_per_s / changed.samples_per_s : 0;
}

struct Option {
  const Changes* changes;
  Prediction prediction;
  double regained;  // share of the window
};

std::optional<Option> best_option(const Candidate& candidate, const Prediction& base,
                                  const Predictor& predict) {
  std::optional<Option> best;
  for (const Changes& changes : candidate.options) {
    Prediction changed = predict(changes);
    const double regained = regained_share(base, changed);
    if (best && regained < best->regained + kAboutAsMuch) continue;
    best = Option{&changes, std::move(changed), regained};
  }
  return best;
}

std::string with_value(std::string text, const Changes& changes) {
  const auto hole = text.find("{}");
  if (hole == text.npos || changes.empty()) return text;
  return text.replace(hole, 2, changes.front().value);
}

Finding finding_of(const FindingRow& row, const Candidate& candidate, const Option& option,
                   const Prediction& base, Nanos window) {
  Finding finding;
  finding.id = row.row.name;
  finding.evidence = candidate.evidence;
  finding.changes = *option.changes;
  finding.to_run = candidate.to_run.empty() ? finding.changes : candidate.to_run;
  finding.pytorch = with_value(candidate.pytorch, finding.changes);
  finding.rate_before = base.samples_per_s;
  finding.rate_after = option.prediction.samples_per_s;
  finding.busy_before = busy_of(base);
  finding.busy_after = busy_of(option.prediction);
  const bool saves = row.gives_back != GivesBack::nothing && option.regained >= kWorthSaying;
  finding.regained_s = saves ? option.regained * seconds(window) : 0;
  return finding;
}

void sort_by_gain(std::vector<Finding>& findings, double alike_s) {
  const auto weight = [&](const Finding& f) { return std::floor(f.regained_s / alike_s + 0.5); };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return weight(a) > weight(b); });
}

// Two names for the same advice say no more than one.
void drop_repeated(std::vector<Finding>& findings) {
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const auto rest = findings.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    findings.erase(
        std::remove_if(rest, findings.end(),
                       [&](const Finding& f) { return f.changes == findings[i].changes; }),
        findings.end());
  }
}

}  // namespace

std::vector<Finding> find_causes(const RunRecord& record, const Analysis& analysis,
                                 const Predictor& predict) {
  std::vector<Finding> findings;
  if (analysis.verdict.withheld_reason) return findings;
  const Facts facts(record, analysis);
  const Prediction base = predict({});
  const Nanos window = analysis.account.window;
  for (const FindingRow& row : finding_table()) {
    const std::optional<Candidate> candidate = row.look(facts);
    if (!candidate) continue;
    const std::optional<Option> option = best_option(*candidate, base, predict);
    if (!option) continue;
    const double least = row.gives_back == GivesBack::time ? kWorthSaying : -kAboutAsMuch;
    if (option->regained < least) continue;
    findings.push_back(finding_of(row, *candidate, *option, base, window));
  }
  sort_by_gain(findings, kAlike * seconds(window));
  drop_repeated(findings);
  return findings;
}

}  // namespace loaderscope
