// Findings from the candidates of rows, as far as no model is needed.
#include <algorithm>
#include <set>
#include <string>

#include "analysis/findings/finding_input.h"
#include "analysis/findings/subject.h"
#include "analysis/stragglers.h"
#include "analysis/verdict.h"
#include "record/environment_changes.h"

namespace loaderscope {
namespace {

std::string with_value(std::string text, const Changes& changes) {
  const auto hole = text.find("{}");
  if (hole == text.npos || changes.empty()) return text;
  return text.replace(hole, 2, changes.front().value);
}

// Returns the advice of the candidate for these changes; null if they need none of their own.
const SettingAdvice* find_advice(const Candidate& candidate, const Changes& changes) {
  const auto is_of = [&](const SettingAdvice& advice) {
    return std::any_of(changes.begin(), changes.end(),
                       [&](const Change& change) { return as_setting(change).key == advice.key; });
  };
  const auto found = std::find_if(candidate.advice.begin(), candidate.advice.end(), is_of);
  return found == candidate.advice.end() ? nullptr : &*found;
}

Changes direction_changes(const Candidate& candidate) {
  if (!candidate.direction.empty()) return candidate.direction;
  return candidate.options.empty() ? Changes() : candidate.options.front();
}

bool is_worth_a_direction(const FindingRow& row, const Candidate& candidate, const Finding& said) {
  if (row.is_trade || !candidate.limits.empty()) return false;
  if (!candidate.ranges.empty() && said.changes.empty()) return false;  // the value is unknown
  if (row.gives_back == Benefit::time) return said.waited >= kModerateStall;
  return row.gives_back == Benefit::resources;
}

constexpr double kMinOfSetting = 0.05, kMinOfOther = 0.1;  // share of the rate that a fix gains

// Drops one of two values of a setting if neither has a predicted gain. The longer wait wins.
void drop_contradicting(std::vector<Finding>& findings) {
  std::set<std::string> keys;
  std::erase_if(findings, [&](const Finding& finding) {
    return !finding.changes.empty() && !keys.insert(finding.changes.front().key).second;
  });
}

template <class Is>
const Finding* first_that(const Analysis& analysis, const Is& is) {
  const auto& findings = analysis.findings;
  const auto first = std::find_if(findings.begin(), findings.end(), is);
  return first == findings.end() ? nullptr : &*first;
}

}  // namespace

const Finding* advised_fix(const Analysis& analysis) {
  if (analysis.verdict.withheld_reason && !analysis.is_of_trace) return nullptr;
  // A rank that the others wait for is the subject, however much a setting of all ranks gains.
  const Finding* leads = first_that(analysis, [](const Finding& f) { return !f.wrong_data; });
  if (leads != nullptr && leads->id == kStragglerRank) return leads;
  const Finding* fix = first_that(analysis, [](const Finding& f) { return f.is_worth_doing(); });
  return fix != nullptr ? fix : first_that(analysis, [](const Finding& f) { return f.is_chief; });
}

ChangeKind Finding::kind() const {
  if (fixed_by == FixedBy::administrator) return ChangeKind::hardware;
  // Another batch size is another training.
  const bool is_other_training = std::any_of(
      changes.begin(), changes.end(), [](const Change& one) { return one.key == "batch-size"; });
  const bool is_setting = has_setting() && !is_rewrite && !is_other_training;
  return is_setting ? ChangeKind::setting : ChangeKind::rewriting;
}

double Finding::gain() const {
  return rate_before > 0 && has_figures() ? rate_after / rate_before - 1 : hoped_gain;
}

bool Finding::is_worth_doing() const {
  if (wrong_data || is_ceiling) return false;
  // The built-in loader has a setting for other code of a PyTorch program.
  const bool is_setting = kind() == ChangeKind::setting || is_rewrite;
  const double least = is_setting ? kMinOfSetting : kMinOfOther;
  if (has_figures() || hoped_gain != 0) return regained_s > 0 && gain() >= least;
  return waited >= 1 || waited / (1 - waited) >= least;
}

bool Finding::has_setting() const {
  return !to_run.empty() && std::none_of(to_run.begin(), to_run.end(), is_of_world);
}

std::optional<Candidate> look_at(const FindingRow& row, const FindingInput& facts) {
  return row.is_of_gpu && !facts.has_gpu() ? std::nullopt : row.look(facts);
}

Finding build_finding(const FindingInput& facts, const FindingRow& row, const Candidate& candidate,
                      const Changes& changes) {
  Finding finding;
  finding.id = row.row.name;
  finding.evidence = candidate.evidence;
  finding.changes = changes;
  finding.to_run = candidate.to_run;
  if (finding.to_run.empty())
    std::transform(changes.begin(), changes.end(), std::back_inserter(finding.to_run), as_setting);
  const SettingAdvice* advice = find_advice(candidate, changes);
  finding.pytorch = with_value(advice != nullptr ? advice->pytorch : candidate.pytorch, changes);
  finding.is_rewrite = advice != nullptr && advice->is_rewrite;
  finding.waited = candidate.waited.value_or(row.waited != nullptr ? row.waited(facts) : 0);
  finding.fixed_by = row.fixed_by;
  finding.wrong_data = row.gives_back == Benefit::correct_data;
  return finding;
}

// True if the change only assumes that a stage is faster, by a factor that the user may not reach.
static bool is_supposed(const Finding& finding) {
  constexpr double kMax = 10;
  return !finding.changes.empty() && std::ranges::all_of(finding.changes, [](const Change& change) {
    const std::optional<Speedup> speedup = find_speedup(change);
    return speedup && speedup->factor <= kMax;
  });
}

static bool changes_key(const Finding& finding, std::string_view key) {
  return std::ranges::any_of(finding.changes,
                             [&](const Change& change) { return change.key == key; });
}

void put_fix_first(std::vector<Finding>& findings, const FindingWeight& weight) {
  constexpr double kEnough = 1.0 / 3;  // share of the gain of the best change of later kinds
  const auto best_finding = [&](auto is_of) {
    auto best = findings.end();
    for (auto at = findings.begin(); at != findings.end(); ++at) {
      const bool counts = is_of(at->kind()) && at->is_worth_doing();
      if (counts && (best == findings.end() || weight(*at) > weight(*best))) best = at;
    }
    return best;
  };
  const auto end = findings.end();
  const auto setting = best_finding([](ChangeKind kind) { return kind == ChangeKind::setting; });
  const auto rewriting =
      best_finding([](ChangeKind kind) { return kind == ChangeKind::rewriting; });
  const auto hardware = best_finding([](ChangeKind kind) { return kind == ChangeKind::hardware; });
  auto fix = hardware;
  if (rewriting != end &&
      (fix == end || (weight(*rewriting) >= kEnough * weight(*fix) &&
                      (!is_supposed(*rewriting) || kEnough * weight(*rewriting) > weight(*fix)))))
    fix = rewriting;
  // A change for an administrator is no fix while a setting helps.
  if (setting != end &&
      (fix == end || fix == hardware || weight(*setting) >= kEnough * weight(*fix)))
    fix = setting;
  if (fix == end) return;
  // The order of the table decides between findings that save about as much of the window.
  const auto saved = [&](const Finding& finding) { return 1 - 1 / (1 + weight(finding)); };
  const auto is_alike = [&](const Finding& finding, double less) {
    return finding.kind() == fix->kind() && finding.is_worth_doing() &&
           saved(finding) >= saved(*fix) - less;
  };
  const auto alike = std::find_if(findings.begin(), fix, [&](const Finding& finding) {
    return is_alike(finding, kAboutAsMuch);
  });
  // More batches in flight keep the order of the batches, and come first.
  const auto is_safer = [&](const Finding& finding) {
    return is_alike(finding, 2 * kAboutAsMuch) && changes_key(finding, "prefetch-factor");
  };
  const auto as_safe =
      changes_key(*alike, "in-order") ? std::find_if(findings.begin(), end, is_safer) : alike;
  const auto first = as_safe == end ? alike : as_safe;
  std::rotate(findings.begin(), first, first + 1);
  if (findings.front().kind() == ChangeKind::hardware) return;
  std::stable_partition(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.kind() != ChangeKind::hardware;
  });
}

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

std::vector<Finding> find_wrong_data(const RunRecord& record, const Analysis& analysis) {
  const FindingInput facts(record, analysis);
  std::vector<Finding> findings;
  for (const FindingRow& row : finding_table()) {
    if (row.gives_back != Benefit::correct_data) continue;
    if (const std::optional<Candidate> candidate = look_at(row, facts))
      findings.push_back(build_finding(facts, row, *candidate, {}));
  }
  return findings;
}

std::vector<Finding> find_directions(const RunRecord& record, const Analysis& analysis) {
  if (analysis.steps == 0 || record.lost_spans > 0) return {};
  if (analysis.steps < kMinSteps && !analysis.is_of_trace) return {};
  const Subject subject(record, analysis);
  const FindingInput& facts = subject.facts();
  std::vector<Finding> findings;
  for (const FindingRow& row : finding_table()) {
    const std::optional<Candidate> candidate = look_at(row, facts);
    if (!candidate) continue;
    Finding said = build_finding(facts, row, *candidate, direction_changes(*candidate));
    if (!is_worth_a_direction(row, *candidate, said)) continue;
    add_memory(facts, said);
    findings.push_back(std::move(said));
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.waited > b.waited; });
  put_fix_first(findings, [](const Finding& finding) { return finding.waited; });
  drop_contradicting(findings);
  return findings;
}

}  // namespace loaderscope
