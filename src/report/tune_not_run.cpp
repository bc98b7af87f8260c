// The settings of a tune that did not run, or not often enough.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/wording.h"
#include "experiment/settings.h"
#include "report/experiment_text.h"
#include "report/tune_text.h"

namespace loaderscope {
namespace {

// Reasons why a possible case did not run.
enum class NotRun { short_of_goal, dearer, cheaper, unknown };

NotRun why_not_run(const Tune& tune, std::size_t i) {
  const Forecast& chosen = *tune.candidates[*tune.recommended].predicted;
  const std::optional<Forecast>& forecast = tune.candidates[i].predicted;
  if (!forecast) return NotRun::unknown;
  const bool reaches = tune.goal.busy
                           ? forecast->busy >= *tune.goal.busy
                           : forecast->samples_per_s >= tune.goal.share() * chosen.samples_per_s;
  if (!reaches) return NotRun::short_of_goal;
  const std::vector<Case>& cases = tune.experiment.cases;
  const bool cheaper = case_price(cases[i].config) < case_price(cases[*tune.recommended].config);
  return cheaper ? NotRun::cheaper : NotRun::dearer;
}

std::vector<std::pair<NotRun, std::string>> describe_kinds(const Tune& tune, double most_gain) {
  const std::string miss = tune.goal.busy
                               ? fmt::format("that keep {} busy less than {}", computing(tune),
                                             format_percent(*tune.goal.busy))
                               : fmt::format("slower by more than {:g} %", 100 * tune.goal.within);
  return {{NotRun::short_of_goal, miss + " (model)"},
          {NotRun::dearer,
           fmt::format("that cost more for at most {:.1f} % more (model)", 100 * most_gain)},
          {NotRun::cheaper, "that cost less and would do (model); give a longer --budget"},
          {NotRun::unknown, "without a prediction"}};
}

// Returns the part of the reason after the required amount, which is the same for several cases.
std::string reason_kind(const std::string& reason) {
  const auto limit = reason.find(", more than");
  return limit == reason.npos ? reason : reason.substr(limit);
}

}  // namespace

std::string open_line(const Tune& tune, const CaseStatistics& judgement) {
  constexpr double kRuledOut = 0.05;
  const std::vector<Case>& cases = tune.experiment.cases;
  std::string text;
  for (const std::size_t i : measured_by_price(tune, judgement)) {
    const double chance = tune.goal.busy ? judgement.keeps_busy(i, *tune.goal.busy)
                                         : judgement.reaches_best(i, tune.goal.share());
    const bool is_cheaper =
        case_price(cases[i].config) < case_price(cases[*tune.recommended].config);
    if (is_cheaper && chance >= kRuledOut)
      text += (text.empty() ? "cheaper and not ruled out: " : ", ") +
              settings_text(tune.experiment, cases[i]);
  }
  return text;
}

std::string not_run_line(const Tune& tune) {
  if (!tune.recommended || !tune.candidates[*tune.recommended].predicted) return "";
  const Forecast& chosen = *tune.candidates[*tune.recommended].predicted;
  std::map<NotRun, std::int64_t> count;
  double most_gain = 0;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    const Case& one = tune.experiment.cases[i];
    if (!one.runs.empty() || !one.skipped.empty() || !tune.candidates[i].refused.empty()) continue;
    const NotRun kind = why_not_run(tune, i);
    ++count[kind];
    if (kind != NotRun::dearer) continue;
    most_gain =
        std::max(most_gain, tune.candidates[i].predicted->samples_per_s / chosen.samples_per_s - 1);
  }
  std::vector<std::string> parts;
  for (const auto& [kind, text] : describe_kinds(tune, most_gain)) {
    if (count[kind] > 0) parts.push_back(fmt::format("{} {}", count[kind], text));
  }
  return parts.empty() ? "" : fmt::format("Settings that did not run: {}", fmt::join(parts, ", "));
}

std::vector<std::string> refused_lines(const Tune& tune) {
  std::map<std::string, std::vector<std::string>> groups;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    const Case& one = tune.experiment.cases[i];
    const std::string& reason = one.skipped.empty() ? tune.candidates[i].refused : one.skipped;
    if (!reason.empty())
      groups[reason_kind(reason)].push_back(settings_text(tune.experiment, one) + ": " + reason);
  }
  std::vector<std::string> lines;
  for (const auto& [kind, cases] : groups) {
    const std::string more =
        cases.size() > 1 ? fmt::format("; {} more alike", cases.size() - 1) : "";
    lines.push_back("Skipped " + cases.front() + more);
  }
  return lines;
}

}  // namespace loaderscope
