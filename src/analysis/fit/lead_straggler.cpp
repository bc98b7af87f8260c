#include "analysis/fit/lead_straggler.h"

#include <algorithm>

#include "analysis/findings/subject.h"
#include "analysis/fit/figures.h"
#include "analysis/stragglers.h"

namespace loaderscope {
namespace {

bool is_about_one(const Finding& finding) {
  return finding.id == kStragglerRank || finding.id == "straggler-worker";
}

}  // namespace

void lead_with_straggler(const RunRecord& record, const Analysis& analysis,
                         const FittedModel* model, std::vector<Finding>& findings) {
  const std::vector<std::size_t> slow = ranks_of_subject(record, analysis);
  if (slow.empty()) return;
  for (Finding& finding : findings) {
    if (!is_about_one(finding))
      finding.evidence = "on " + words_of_ranks(slow) + ": " + finding.evidence;
  }
  const auto found = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.id == kStragglerRank;
  });
  if (found == findings.end()) return;
  std::rotate(findings.begin(), found, found + 1);
  if (model != nullptr)
    add_figures(findings.front(), analysis, model->predict_like_others(slow, kSamplesOfPrediction));
}

}  // namespace loaderscope
