#include "analysis/findings/conclude.h"

#include <algorithm>

#include "analysis/contention.h"
#include "analysis/findings/facts.h"
#include "analysis/verdict.h"

namespace loaderscope {
namespace {

constexpr double kMostOfIdle = 0.5;
constexpr double kIdleAtLimit = 0.1;  // of the window: a GPU that waits longer is not called the limit

Finding* finding_named(Analysis& analysis, std::string_view id) {
  const auto found = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                  [&](const Finding& finding) { return finding.id == id; });
  return found == analysis.findings.end() ? nullptr : &*found;
}

// Of the window, that would be gained without other programs: by the model, else by the CPU time
// that they took while threads waited for a core.
double caused_by_others(const Analysis& analysis, const RunRecord& record, const Finding& others) {
  const double window = seconds(analysis.account.window);
  const double waited = share_of(analysis.account.stall[Cause::contention], analysis.account);
  const double by_cpu = contention_of_others(record).value_or(0) * waited;
  return std::max(by_cpu, window > 0 ? others.regained_s / window : 0);
}

void blame(Analysis& analysis, const RunRecord& record, std::string_view what,
           std::vector<Cause> candidates) {
  Verdict& verdict = analysis.verdict;
  verdict.bound_by = std::string(what);
  verdict.candidates = std::move(candidates);
  verdict.no_gain = verdict.together = false;
  verdict.hidden.reset();
  verdict.sentence = sentence_of(record, analysis, verdict);
}

void add_limit(Analysis& analysis, const RunRecord& record) {
  const FindingRow& row = find_row("gpu-is-the-limit", finding_table());
  const Facts facts(record, analysis);
  if (const std::optional<Candidate> seen = look_at(row, facts)) {
    Finding limit = said_of(facts, row, *seen, {});
    limit.is_ceiling = true;
    analysis.findings.push_back(std::move(limit));
  }
}

void blame_no_stage(Analysis& analysis, const RunRecord& record) {
  const double idle = share_of(analysis.account.idle(), analysis.account);
  if (!analysis.has_busy || idle < kModerateStall) return;
  Finding* others = finding_named(analysis, "other-programs");
  if (others != nullptr && caused_by_others(analysis, record, *others) > kMostOfIdle * idle) {
    others->is_chief = true;
    blame(analysis, record, name_of(Cause::contention), {Cause::contention});
  } else if (idle <= kIdleAtLimit) {
    blame(analysis, record, "compute", {});
    add_limit(analysis, record);
  }
}

}  // namespace

void conclude(Analysis& analysis, const RunRecord& record) {
  if (analysis.verdict.withheld_reason) return;
  if (fix_of(analysis) == nullptr) blame_no_stage(analysis, record);
}

}  // namespace loaderscope
