// A finding made by hand.
#pragma once

#include "loaderscope/analysis.h"

namespace loaderscope::test {

inline Finding sample_finding(const Changes& changes) {
  Finding finding;
  finding.id = "too-few-workers";
  finding.evidence = "2 workers never rest";
  finding.changes = finding.to_run = changes;
  finding.pytorch = "DataLoader(..., num_workers=4)";
  finding.rate_before = 160;
  finding.rate_after = 320;
  finding.busy_before = 0.25;
  finding.busy_after = 0.5;
  finding.regained_s = 2;
  return finding;
}

inline Analysis analysis_with(const RunRecord& record, const Changes& changes) {
  Analysis analysis = analyse(record);
  analysis.findings = {sample_finding(changes)};
  analysis.fit = GoodnessOfFit{-0.012, "decode", 0.008};
  return analysis;
}

}  // namespace loaderscope::test
