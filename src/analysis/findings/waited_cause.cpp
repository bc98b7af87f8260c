#include "analysis/findings/waited_cause.h"

#include <algorithm>

#include "analysis/findings/finding_input.h"

namespace loaderscope {
namespace {

// Returns the analysis with `cause` as the only wait.
Analysis keep_cause(const Analysis& analysis, Cause cause) {
  Analysis one = analysis;
  one.account.stall = {};
  one.account.stall[cause] = analysis.account.stall[cause];
  return one;
}

const FindingRow* waited_row(const Finding& finding) {
  const auto rows = finding_table();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const FindingRow& one) { return one.row.name == finding.id; });
  return row == rows.end() || row->waited == nullptr ? nullptr : &*row;
}

}  // namespace

std::vector<std::optional<Cause>> waited_causes(const RunRecord& record, const Analysis& analysis) {
  std::vector<std::optional<Cause>> causes(analysis.findings.size());
  for (const auto& word : Words<Cause>::table()) {
    const Cause cause = word.value;
    const Nanos stall = analysis.account.stall[cause];
    if (stall == 0) continue;
    const Analysis one = keep_cause(analysis, cause);
    const FindingInput facts(record, one);
    for (std::size_t i = 0; i < causes.size(); ++i) {
      const FindingRow* row = waited_row(analysis.findings[i]);
      if (row == nullptr || row->waited(facts) <= 0) continue;
      if (!causes[i] || analysis.account.stall[*causes[i]] < stall) causes[i] = cause;
    }
  }
  return causes;
}

}  // namespace loaderscope
