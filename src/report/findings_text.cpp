#include "report/findings_text.h"

#include <fmt/format.h>

#include "analysis/wording.h"

namespace loaderscope {
namespace {

// Of the best, when it saves any time.
const Finding* fix_of(const Analysis& analysis) {
  if (analysis.findings.empty() || analysis.findings.front().regained_s <= 0) return nullptr;
  return &analysis.findings.front();
}

std::string outcome(const Finding& finding) {
  std::string text = spell_changes(finding.changes) + " -> ";
  if (finding.busy_after > 0) {
    text += fmt::format("busy {} to {}, ", show_percent(finding.busy_before),
                        show_percent(finding.busy_after));
  }
  return text + fmt::format("{} to {} samples/s", show_rate(finding.rate_before),
                            show_rate(finding.rate_after));
}

}  // namespace

std::string fix_line(const Analysis& analysis) {
  const Finding* fix = fix_of(analysis);
  if (fix == nullptr) return "";
  return fmt::format("Fix: {}; {}: {}", outcome(*fix), fix->id, fix->evidence);
}

std::string pytorch_line(const Analysis& analysis) {
  const Finding* fix = fix_of(analysis);
  return fix == nullptr ? "" : "PyTorch: " + fix->pytorch;
}

std::vector<std::string> other_findings(const Analysis& analysis) {
  std::vector<std::string> lines;
  for (const Finding& finding : analysis.findings) {
    if (&finding == fix_of(analysis)) continue;
    lines.push_back(fmt::format("also {}: {}; {}", finding.id, finding.evidence, outcome(finding)));
  }
  return lines;
}

std::string fit_line(const Analysis& analysis) {
  if (!analysis.fit || analysis.findings.empty()) return "";
  std::string text = "predicted: " + analysis.fit->sentence();
  for (const std::string& note : analysis.fit_notes) text += "; " + note;
  return text;
}

}  // namespace loaderscope
