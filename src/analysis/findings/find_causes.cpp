// What the rows see, weighed by what the model says that mending it gives back.
#include <algorithm>
#include <cmath>
#include <future>

#include "analysis/findings/search_option.h"

namespace loaderscope {
namespace {

constexpr double kAlike = 0.001;  // of the window: closer findings keep the table's order

struct Weighing {
  const FindingRow* row;
  Candidate candidate;
  std::future<std::optional<Option>> best;
};

// Each on a core of its own, as far as there are any: a prediction may take a second.
void weigh_all(std::vector<Weighing>& weighings, const Prediction& base, const Predictor& predict) {
  for (Weighing& weighing : weighings) {
    weighing.best = std::async(std::launch::async, [&weighing, &base, &predict] {
      return search_option(weighing.candidate, base, predict);
    });
  }
}

std::string with_value(std::string text, const Changes& changes) {
  const auto hole = text.find("{}");
  if (hole == text.npos || changes.empty()) return text;
  return text.replace(hole, 2, changes.front().value);
}

Finding finding_of(const FindingRow& row, const Candidate& candidate, const Option& option,
                   const Analysis& measured) {
  Finding finding;
  finding.id = row.row.name;
  finding.evidence = candidate.evidence;
  finding.changes = option.changes;
  finding.to_run = candidate.to_run.empty() ? finding.changes : candidate.to_run;
  finding.pytorch = with_value(candidate.pytorch, finding.changes);
  const Promise promise = promise_of(measured, option.prediction);
  finding.rate_before = promise.rate_before;
  finding.rate_after = promise.rate_after;
  finding.busy_before = promise.busy_before;
  finding.busy_after = promise.busy_after;
  const bool saves = row.gives_back != GivesBack::nothing && option.regained >= kWorthSaying;
  finding.regained_s = saves ? option.regained * seconds(measured.account.window) : 0;
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
    findings.erase(std::remove_if(rest, findings.end(),
                                  [&](const Finding& f) {
                                    return !f.changes.empty() && f.changes == findings[i].changes;
                                  }),
                   findings.end());
  }
}

}  // namespace

std::vector<Finding> find_wrong_data(const RunRecord& record, const Analysis& analysis) {
  const Facts facts(record, analysis);
  std::vector<Finding> findings;
  for (const FindingRow& row : finding_table()) {
    if (row.gives_back != GivesBack::sound_data) continue;
    const std::optional<Candidate> candidate = row.look(facts);
    if (!candidate) continue;
    Finding finding;
    finding.id = row.row.name;
    finding.evidence = candidate->evidence;
    finding.pytorch = candidate->pytorch;
    finding.wrong_data = true;
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> find_causes(const RunRecord& record, const Analysis& analysis,
                                 const Predictor& predict) {
  if (analysis.verdict.withheld_reason) return {};
  const Facts facts(record, analysis);
  const Predictor known = remembering(predict);
  const Prediction base = known({});
  std::vector<Weighing> weighings;
  for (const FindingRow& row : finding_table()) {
    if (row.gives_back == GivesBack::sound_data) continue;
    if (std::optional<Candidate> candidate = row.look(facts))
      weighings.push_back({&row, std::move(*candidate), {}});
  }
  weigh_all(weighings, base, known);

  std::vector<Finding> findings;
  for (Weighing& weighing : weighings) {
    const std::optional<Option> option = weighing.best.get();
    if (!option) continue;
    const FindingRow& row = *weighing.row;
    const double least = row.gives_back == GivesBack::time ? kWorthSaying : -kAboutAsMuch;
    if (option->regained < least) continue;
    findings.push_back(finding_of(row, weighing.candidate, *option, analysis));
  }
  sort_by_gain(findings, kAlike * seconds(analysis.account.window));
  drop_repeated(findings);
  return findings;
}

}  // namespace loaderscope
