#include "analysis/findings/conclude.h"

#include <algorithm>

#include "analysis/contention.h"
#include "analysis/findings/finding_input.h"
#include "analysis/verdict.h"

namespace loaderscope {
namespace {

constexpr std::string_view kOtherPrograms = "other-programs";
constexpr double kMaxOfIdle = 0.5;
// Share of the window. A GPU that waits longer is not called the limit.
constexpr double kIdleAtLimit = 0.1;

// Returns the finding of that name. If it is missing, looks for it and adds it without figures.
// Returns null if it does not apply.
Finding* finding_named(Analysis& analysis, const RunRecord& record, std::string_view id) {
  const auto found = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                  [&](const Finding& finding) { return finding.id == id; });
  if (found != analysis.findings.end()) return &*found;
  const FindingRow& row = find_row(id, finding_table());
  const FindingInput facts(record, analysis);
  const std::optional<Candidate> seen = look_at(row, facts);
  if (!seen) return nullptr;
  analysis.findings.push_back(build_finding(facts, row, *seen, {}));
  return &analysis.findings.back();
}

// Returns the setting that gains most, although it is not worth doing by itself. Returns null if no
// setting gains enough to be seen.
Finding* best_small_gain(Analysis& analysis) {
  constexpr double kMinSeen = 0.02;  // relative gain of the rate
  Finding* best = nullptr;
  for (Finding& finding : analysis.findings) {
    const bool is_setting = finding.has_figures() && finding.kind() == ChangeKind::setting;
    if (!is_setting || finding.wrong_data || finding.is_ceiling || finding.gain() < kMinSeen)
      continue;
    if (best == nullptr || finding.gain() > best->gain()) best = &finding;
  }
  return best;
}

// Share of the window that would be gained without other programs, by the model or by the CPU time
// that they took while threads waited for a core.
double caused_by_others(const Analysis& analysis, const RunRecord& record) {
  const double waited = window_share(analysis.account.stall[Cause::contention], analysis.account);
  double caused = contention_of_others(record).value_or(0) * waited;
  const double window = seconds(analysis.account.window);
  for (const Finding& finding : analysis.findings)
    if (finding.id == kOtherPrograms && window > 0)
      caused = std::max(caused, finding.regained_s / window);
  return caused;
}

void blame(Analysis& analysis, const RunRecord& record, std::string_view what,
           std::vector<Cause> candidates) {
  Verdict& verdict = analysis.verdict;
  verdict.bound_by = std::string(what);
  verdict.candidates = std::move(candidates);
  verdict.no_gain = verdict.together = false;
  verdict.hidden.reset();
  verdict.sentence = verdict_sentence(record, analysis, verdict);
}

void blame_no_stage(Analysis& analysis, const RunRecord& record) {
  const double idle = window_share(analysis.account.idle(), analysis.account);
  if (!analysis.has_busy || idle < kModerateStall) return;
  if (caused_by_others(analysis, record) > kMaxOfIdle * idle) {
    Finding* others = finding_named(analysis, record, kOtherPrograms);
    if (others != nullptr) {
      others->is_chief = true;
      return blame(analysis, record, name_of(Cause::contention), {Cause::contention});
    }
  }
  if (idle > kIdleAtLimit) {
    if (Finding* setting = best_small_gain(analysis)) setting->is_chief = true;
    return;
  }
  blame(analysis, record, "compute", {});
  if (Finding* limit = finding_named(analysis, record, "gpu-is-the-limit"))
    limit->is_ceiling = true;
}

// True if the finding is about waits for this cause. What is waited for an epoch or for capacity
// has no cause of its own: then it is the one that the change removes in the model.
bool is_about(const Finding& finding, Cause cause, const Analysis& analysis,
              const RunRecord& record) {
  const FindingRow& row = find_row(finding.id, finding_table());
  if (row.waited == nullptr || analysis.account.stall[cause] == 0) return false;
  Analysis one = analysis;  // the analysis with this cause as the only wait
  one.account.stall = {};
  if (row.waited(FindingInput(record, one)) > 0) return finding.removes == cause;
  one.account.stall[cause] = analysis.account.stall[cause];
  return row.waited(FindingInput(record, one)) > 0;
}

// Causes that the fix removes, the one with most seconds first.
std::vector<Cause> fixed_causes(const Finding& fix, const Analysis& analysis,
                                const RunRecord& record) {
  const auto& stall = analysis.account.stall;
  std::vector<Cause> causes;
  for (const auto& word : Words<Cause>::table()) {
    if (fix.removes == word.value || is_about(fix, word.value, analysis, record))
      causes.push_back(word.value);
  }
  std::stable_sort(causes.begin(), causes.end(), [&](Cause a, Cause b) {
    return std::pair(fix.removes == a, stall[a]) > std::pair(fix.removes == b, stall[b]);
  });
  return causes;
}

// Rewrites the first line if the fix removes none of the causes that it names.
void name_fixed_cause(const Finding& fix, Analysis& analysis, const RunRecord& record) {
  if (!fix.has_figures() || analysis.verdict.bound_by == "compute") return;
  const std::vector<Cause> fixed = fixed_causes(fix, analysis, record);
  const auto& named = analysis.verdict.candidates;
  const bool names_one = std::any_of(fixed.begin(), fixed.end(), [&](Cause cause) {
    return std::find(named.begin(), named.end(), cause) != named.end();
  });
  if (fixed.empty() || names_one) return;
  analysis.verdict.sentence = fix_sentence(record, analysis, fixed.front());
}

// A fix may remove most seconds of a cause that another finding is about, as a program without
// workers starts none: then that finding says why.
void name_cause(Analysis& analysis, const RunRecord& record) {
  const Finding* fix = advised_fix(analysis);
  if (fix == nullptr || !fix->removes || is_about(*fix, *fix->removes, analysis, record)) return;
  const Finding* about = nullptr;
  for (const Finding& finding : analysis.findings) {
    if (!is_about(finding, *fix->removes, analysis, record)) continue;
    if (about == nullptr || finding.waited > about->waited) about = &finding;
  }
  if (about == nullptr) return;
  analysis.findings[static_cast<std::size_t>(fix - analysis.findings.data())].cause = about->id;
}

}  // namespace

void conclude(Analysis& analysis, const RunRecord& record) {
  if (analysis.verdict.withheld_reason) return;
  const Finding* fix = advised_fix(analysis);
  if (fix == nullptr)
    blame_no_stage(analysis, record);
  else
    name_fixed_cause(*fix, analysis, record);
  name_cause(analysis, record);
}

}  // namespace loaderscope
