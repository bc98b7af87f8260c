// The findings of a run, weighed by the model fitted to it.
#include "loaderscope/errors.h"
#include "loaderscope/findings.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kSamplesOfPrediction = 20'000;

}  // namespace

void add_findings(Analysis& analysis, const RunRecord& record) {
  if (analysis.verdict.withheld_reason) return;
  try {
    const FittedModel model(record);
    const auto predict = [&](const Changes& changes) {
      return model.predict(changes, kSamplesOfPrediction);
    };
    analysis.fit = goodness_of_fit(analysis, predict({}));
    analysis.fit_notes = model.notes();
    analysis.findings = find_causes(record, analysis, predict);
  } catch (const RunError& error) {
    analysis.notes.push_back(std::string("no findings: ") + error.what());
  } catch (const UsageError& error) {
    analysis.notes.push_back(std::string("no findings: ") + error.what());
  }
}

}  // namespace loaderscope
