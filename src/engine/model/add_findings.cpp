// The findings of a run, weighed by the model fitted to it.
#include <algorithm>
#include <utility>

#include "engine/model/beside_account.h"
#include "loaderscope/errors.h"
#include "loaderscope/findings.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kSamplesOfPrediction = 20'000;

void add_beside_account(Analysis& analysis, const FittedModel& model, const Prediction& base) {
  if (!analysis.has_busy) return;
  const Prediction at_means = model.predict_at_means(kSamplesOfPrediction);
  analysis.starved = model::starved(analysis.account, base, at_means);
  analysis.depth = model::ready_depth(model, base, at_means);
}

// Of the finding that stands first: what is quoted of it may go beyond what was measured.
void note_extrapolations(Analysis& analysis, const FittedModel& model) {
  const auto first = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                  [](const Finding& finding) { return finding.regained_s > 0; });
  if (first == analysis.findings.end()) return;
  for (std::string& note : model.extrapolations(first->changes))
    analysis.fit_notes.push_back(std::move(note));
}

}  // namespace

void add_findings(Analysis& analysis, const RunRecord& record, const PastPredictions& past,
                  const std::atomic<int>* stop_signal) {
  analysis.past = past;
  analysis.findings = find_wrong_data(record, analysis);
  if (analysis.verdict.withheld_reason) return;
  try {
    const FittedModel model(record, stop_signal);
    const Prediction base = model.predict({}, kSamplesOfPrediction);
    const auto predict = [&](const Changes& changes) {
      return changes.empty() ? base : model.predict(changes, kSamplesOfPrediction);
    };
    analysis.fit = goodness_of_fit(analysis, model.fitted(kSamplesOfPrediction));
    analysis.fit_notes = model.notes();
    for (Finding& finding : find_causes(record, analysis, predict))
      analysis.findings.push_back(std::move(finding));
    if (!analysis.fit->can_predict()) return;
    note_extrapolations(analysis, model);
    add_beside_account(analysis, model, base);
    analysis.what_it_takes = what_it_takes(analysis, base, predict);
  } catch (const RunError& error) {
    analysis.notes.push_back(std::string("no findings: ") + error.what());
  } catch (const UsageError& error) {
    analysis.notes.push_back(std::string("no findings: ") + error.what());
  }
}

}  // namespace loaderscope
