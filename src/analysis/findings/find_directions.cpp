// From what a row sees to what is said, as far as no model is needed for it.
#include <algorithm>
#include <set>
#include <string>

#include "analysis/findings/facts.h"
#include "analysis/findings/subject.h"
#include "analysis/stragglers.h"
#include "analysis/verdict.h"
#include "settings/world_changes.h"

namespace loaderscope {
namespace {

std::string with_value(std::string text, const Changes& changes) {
  const auto hole = text.find("{}");
  if (hole == text.npos || changes.empty()) return text;
  return text.replace(hole, 2, changes.front().value);
}

Changes direction_of(const Candidate& candidate) {
  if (!candidate.direction.empty()) return candidate.direction;
  return candidate.options.empty() ? Changes() : candidate.options.front();
}

bool is_worth_a_direction(const FindingRow& row, const Candidate& candidate, const Finding& said) {
  if (row.is_trade || !candidate.limits.empty()) return false;
  if (!candidate.ranges.empty() && said.changes.empty()) return false;  // of no known value
  if (row.gives_back == GivesBack::time) return said.waited >= kModerateStall;
  return row.gives_back == GivesBack::resources;
}

// Of what nothing is predicted for, what is waited for could be saved.
bool saves_time(const Finding& finding) {
  if (finding.wrong_data) return false;
  return finding.has_figures() ? finding.regained_s > 0 : finding.waited >= kWorthSaying;
}

// Two values of one setting without a figure for either: what is waited for longer is followed.
void drop_contradicting(std::vector<Finding>& findings) {
  std::set<std::string> keys;
  std::erase_if(findings, [&](const Finding& finding) {
    return !finding.changes.empty() && !keys.insert(finding.changes.front().key).second;
  });
}

// Workers that wait more than they compute: where about as much is waited for, a setting that has
// them wait side by side is tried before code is written anew.
void put_settings_of_waiting_workers_first(std::vector<Finding>& findings, const Facts& facts) {
  constexpr double kAboutAsMuch = 0.9;
  if (findings.empty() || facts.config.loader.num_workers == 0 || facts.cpu_share() > 0.5) return;
  const double enough = kAboutAsMuch * findings.front().waited;
  const auto less = std::find_if(findings.begin(), findings.end(),
                                 [&](const Finding& f) { return f.waited < enough; });
  std::stable_partition(findings.begin(), less, [](const Finding& f) { return f.has_setting(); });
}

template <class Is>
const Finding* first_that(const Analysis& analysis, const Is& is) {
  const auto& findings = analysis.findings;
  const auto first = std::find_if(findings.begin(), findings.end(), is);
  return first == findings.end() ? nullptr : &*first;
}

}  // namespace

const Finding* fix_of(const Analysis& analysis) { return first_that(analysis, saves_time); }

// What is set for all ranks would only hide the one that they wait for.
const Finding* fix_to_try(const Analysis& analysis) {
  const Finding* fix = fix_of(analysis);
  if (fix != nullptr && fix->id == kStragglerRank) return nullptr;
  return first_that(analysis, [](const Finding& f) { return saves_time(f) && f.has_setting(); });
}

bool Finding::has_setting() const {
  return !to_run.empty() && std::none_of(to_run.begin(), to_run.end(), is_of_world);
}

std::optional<Candidate> look_at(const FindingRow& row, const Facts& facts) {
  return row.is_of_gpu && !facts.has_gpu() ? std::nullopt : row.look(facts);
}

Finding said_of(const Facts& facts, const FindingRow& row, const Candidate& candidate,
                const Changes& changes) {
  Finding finding;
  finding.id = row.row.name;
  finding.evidence = candidate.evidence;
  finding.changes = changes;
  finding.to_run = candidate.to_run;
  if (finding.to_run.empty())
    std::transform(changes.begin(), changes.end(), std::back_inserter(finding.to_run), as_setting);
  finding.pytorch = with_value(candidate.pytorch, finding.changes);
  finding.at_most = candidate.at_most;
  finding.waited = row.waited != nullptr ? row.waited(facts) : 0;
  finding.mended_by = row.mended_by;
  finding.wrong_data = row.gives_back == GivesBack::sound_data;
  return finding;
}

void put_settings_first(std::vector<Finding>& findings) {
  const auto helps = [](const Finding& finding) {
    return finding.mended_by == MendedBy::reader && finding.has_setting() && saves_time(finding);
  };
  if (std::none_of(findings.begin(), findings.end(), helps)) return;
  std::stable_partition(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.mended_by == MendedBy::reader;
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
  const Facts facts(record, analysis);
  std::vector<Finding> findings;
  for (const FindingRow& row : finding_table()) {
    if (row.gives_back != GivesBack::sound_data) continue;
    if (const std::optional<Candidate> candidate = look_at(row, facts))
      findings.push_back(said_of(facts, row, *candidate, {}));
  }
  return findings;
}

std::vector<Finding> find_directions(const RunRecord& record, const Analysis& analysis) {
  if (analysis.steps == 0 || record.lost_spans > 0) return {};
  const Subject subject(record, analysis);
  const Facts& facts = subject.facts();
  std::vector<Finding> findings;
  for (const FindingRow& row : finding_table()) {
    const std::optional<Candidate> candidate = look_at(row, facts);
    if (!candidate) continue;
    Finding said = said_of(facts, row, *candidate, direction_of(*candidate));
    if (is_worth_a_direction(row, *candidate, said)) findings.push_back(std::move(said));
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.waited > b.waited; });
  put_settings_of_waiting_workers_first(findings, facts);
  drop_contradicting(findings);
  put_settings_first(findings);
  return findings;
}

}  // namespace loaderscope
