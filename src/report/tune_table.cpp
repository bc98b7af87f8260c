// A tune for people: the setting to use, what ran beside it, and what the answer rests on.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/wording.h"
#include "experiment/judgement.h"
#include "experiment/settings.h"
#include "report/experiment_text.h"
#include "report/next_command.h"
#include "report/text_table.h"
#include "report/tune_report.h"

namespace loaderscope {
namespace {

std::string goal_text(const TuneGoal& goal) {
  if (goal.busy) return fmt::format("{:g} % busy", 100 * *goal.busy);
  return fmt::format("within {:g} % of the best", 100 * goal.within);
}

// ", the cheapest proven within 3 % of the best"
std::string claim(const Tune& tune) {
  const std::string goal = goal_text(tune.goal);
  if (tune.proven)
    return tune.goal.busy ? ", the cheapest proven to keep it " + goal
                          : ", the cheapest proven " + goal;
  if (!tune.goal_reached)
    return ": the best there is; no setting of the grid keeps the GPU " + goal;
  const Case& use = tune.experiment.cases[*tune.recommended];
  const bool is_alone = use.runs.size() < 2 || tune.probability >= 0.95;
  const std::string doubt =
      is_alone ? "its rivals have not run" : fmt::format("P = {:.2f}", tune.probability);
  return fmt::format(", the cheapest measured {}, not proven ({}); give a longer --budget", goal,
                     doubt);
}

std::string answer_line(const Tune& tune, const Judgement& judgement) {
  if (!tune.recommended) return "No setting could be run: " + reason_for_nothing(tune.experiment);
  const std::size_t i = *tune.recommended;
  const std::string settings = settings_text(tune.experiment, tune.experiment.cases[i]);
  std::string text = fmt::format("Use {}: ", settings.empty() ? "the base case" : settings);
  if (judgement.has_busy(i)) {
    const Estimate busy = judgement.busy(i);
    text += fmt::format("{:.1f} % busy ({:.1f}-{:.1f}), ", 100 * std::min(1.0, busy.mean),
                        100 * std::max(0.0, busy.low), 100 * std::min(1.0, busy.high));
  }
  const Estimate rate = judgement.rate(i);
  text += fmt::format("{} samples/s ({}-{})", show_rate(rate.mean), show_rate(rate.low),
                      show_rate(rate.high));
  return text + claim(tune);
}

std::string bytes_text(double bytes) { return bytes > 0 ? show_size(bytes) : ""; }

std::string remark_on(const Tune& tune, const Judgement& judgement, std::size_t i) {
  std::vector<std::string> remarks;
  const Case& one = tune.experiment.cases[i];
  if (i == tune.best) {
    std::string text = "best";
    if (tune.recommended && i != *tune.recommended) {
      const double ahead = judgement.rate(i).mean / judgement.rate(*tune.recommended).mean - 1;
      text += fmt::format(", {:+.1f} %", 100 * ahead);
    }
    remarks.push_back(text);
  }
  const bool cheaper =
      tune.recommended && i != *tune.recommended &&
      price_of(one.config) < price_of(tune.experiment.cases[*tune.recommended].config);
  const double chance = tune.goal.busy ? judgement.keeps_busy(i, *tune.goal.busy)
                                       : judgement.reaches_best(i, tune.goal.share());
  if (cheaper && chance >= 0.05) remarks.push_back("not proven " + goal_text(tune.goal));
  const auto threads = static_cast<double>(one.config.num_workers * one.config.ranks);
  if (threads > one.config.cores)
    remarks.push_back(fmt::format("{:g} workers on {:g} cores", threads, one.config.cores.value));
  return fmt::format("{}", fmt::join(remarks, "; "));
}

std::vector<std::size_t> measured_by_price(const Tune& tune, const Judgement& judgement) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tune.experiment.cases.size(); ++i) {
    if (judgement.measured(i)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return price_of(tune.experiment.cases[a].config) < price_of(tune.experiment.cases[b].config);
  });
  return order;
}

void write_cases(std::ostream& out, const Tune& tune, const Judgement& judgement) {
  const Experiment& experiment = tune.experiment;
  std::vector<std::string> header = {""};
  for (const Axis& axis : experiment.axes) header.push_back(axis.key);
  for (const char* name : {"samples/s", "predicted", "busy %", "predicted", "cores", "slots", "RSS",
                           "shm", "runs", ""})
    header.emplace_back(name);
  TextTable table("l" + std::string(experiment.axes.size(), 'r') + "rrrrrrrrrl", header);
  for (const std::size_t i : measured_by_price(tune, judgement)) {
    const Case& one = experiment.cases[i];
    const auto& predicted = tune.candidates[i].predicted;
    std::vector<std::string> row = {tune.recommended == i ? "use ->" : ""};
    for (const Axis& axis : experiment.axes) row.push_back(setting_text(one, axis.key));
    row.push_back(interval_text(judgement.rate(i)));
    row.push_back(predicted ? show_rate(predicted->samples_per_s) : "");
    row.push_back(judgement.has_busy(i) ? busy_text(judgement.busy(i)) : "");
    row.push_back(judgement.has_busy(i) && predicted ? fmt::format("{:.1f}", 100 * predicted->busy)
                                                     : "");
    const double cores = cores_of(one);
    row.push_back(cores > 0 ? fmt::format("{:.2f}", cores) : "");
    row.push_back(bytes_text(static_cast<double>(price_of(one.config).slots)));
    row.push_back(bytes_text(mean_of(one, &CaseRun::resident)));
    row.push_back(bytes_text(mean_of(one, &CaseRun::shared)));
    row.push_back(std::to_string(one.runs.size()));
    row.push_back(remark_on(tune, judgement, i));
    table.add(std::move(row));
  }
  table.print(out);
}

std::string limit_line(const Tune& tune) {
  if (tune.limit.empty() && tune.limit_sentence.empty()) return "";
  std::string text = "limit: ";
  text += tune.limit.empty()        ? tune.limit_sentence
          : tune.limit == "compute" ? "the GPU"
                                    : tune.limit;
  if (!tune.after_next_step) return text;
  text += fmt::format(". Next step up: {}, predicted {} samples/s", spell_changes(tune.next_step),
                      show_rate(tune.after_next_step->samples_per_s));
  if (tune.after_next_step->busy > 0)
    text += fmt::format(", {} busy", show_percent(tune.after_next_step->busy));
  return text;
}

// What the model says of those that did not run.
std::string not_run_line(const Tune& tune) {
  std::int64_t slower = 0, no_better = 0, unknown = 0;
  double most_gain = 0;
  if (!tune.recommended || !tune.candidates[*tune.recommended].predicted) return "";
  const Guess& chosen = *tune.candidates[*tune.recommended].predicted;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    const Case& one = tune.experiment.cases[i];
    const Candidate& candidate = tune.candidates[i];
    if (!one.runs.empty() || !one.skipped.empty() || !candidate.refused.empty()) continue;
    if (!candidate.predicted) {
      ++unknown;
    } else if (candidate.predicted->samples_per_s < tune.goal.share() * chosen.samples_per_s) {
      ++slower;
    } else {
      ++no_better;
      most_gain =
          std::max(most_gain, candidate.predicted->samples_per_s / chosen.samples_per_s - 1);
    }
  }
  std::vector<std::string> parts;
  if (slower > 0)
    parts.push_back(
        fmt::format("{} slower by more than {:g} % (model)", slower, 100 * tune.goal.within));
  if (no_better > 0) {
    parts.push_back(fmt::format("{} that cost more for at most {:.1f} % more (model)", no_better,
                                100 * most_gain));
  }
  if (unknown > 0) parts.push_back(fmt::format("{} without a prediction", unknown));
  return parts.empty() ? "" : fmt::format("not run: {}", fmt::join(parts, ", "));
}

std::vector<std::string> refused_lines(const Tune& tune) {
  std::map<std::string, std::vector<std::size_t>> by_reason;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    const std::string& skipped = tune.experiment.cases[i].skipped;
    const std::string& refused = tune.candidates[i].refused;
    if (!skipped.empty() || !refused.empty())
      by_reason[skipped.empty() ? refused : skipped].push_back(i);
  }
  std::vector<std::string> lines;
  for (const auto& [reason, cases] : by_reason) {
    std::string text = "not run: " + spell_changes(tune.experiment.cases[cases.front()].changes);
    if (cases.size() > 1) text += fmt::format(" and {} more", cases.size() - 1);
    lines.push_back(text + ": " + reason);
  }
  return lines;
}

std::string cost_line(const Tune& tune) {
  std::int64_t ran = 0;
  for (const Case& one : tune.experiment.cases) ran += one.runs.empty() ? 0 : 1;
  std::string text = fmt::format("{} of {} settings run, {}", ran, tune.experiment.cases.size(),
                                 show_duration(tune.experiment.spent));
  if (tune.grid_time > 0) {
    text += fmt::format(
        " ({:.0f} % of two runs of each)",
        100 * static_cast<double>(tune.experiment.spent) / static_cast<double>(tune.grid_time));
  }
  if (tune.experiment.interrupted) text += ", interrupted";
  if (tune.experiment.budget_spent) text += ", the budget is spent";
  return text + fmt::format("; model error on them: median {}, worst {}",
                            show_percent(tune.error_median), show_percent(tune.error_worst));
}

std::string shift_line(const Tune& tune) {
  if (tune.shifts.empty() || !tune.recommended) return "";
  const Experiment& experiment = tune.experiment;
  const std::string same = settings_text(experiment, experiment.cases[*tune.recommended]);
  std::vector<std::string> parts;
  for (const ComputeShift& shift : tune.shifts) {
    const std::string settings = shift.cheapest
                                     ? settings_text(experiment, experiment.cases[*shift.cheapest])
                                     : std::string("none");
    parts.push_back(fmt::format("{:+.0f} %: {}", 100 * (shift.factor - 1),
                                settings == same ? "the same" : settings));
  }
  return fmt::format("rests on --compute {} (declared); were it off by {} (model)",
                     find_field("compute")->text(experiment.base), fmt::join(parts, ", by "));
}

}  // namespace

void write_tune_table(std::ostream& out, const Tune& tune, const ReportStyle& style) {
  const Judgement judgement(tune.experiment.cases);
  const auto line = [&](const std::string& text) {
    if (!text.empty()) out << wrapped(printable(text), style.width, 2) << '\n';
  };
  line(answer_line(tune, judgement));
  if (!tune.recommended) return;
  const Case& use = tune.experiment.cases[*tune.recommended];
  out << "  " << data_loader_call(use.config) << '\n' << "  " << dali_arguments(use.config) << '\n';
  if (use.config.ranks > 1) {
    line(
        fmt::format("{} ranks load together: workers and prefetch are of each, rates, cores and "
                    "memory of all",
                    use.config.ranks.value));
  }
  write_cases(out, tune, judgement);
  line(limit_line(tune));
  line(not_run_line(tune));
  for (const std::string& text : refused_lines(tune)) line(text);
  line(cost_line(tune));
  line(shift_line(tune));
  for (const std::string& note : tune.experiment.notes) line("note: " + note);
  out << "next: " << printable(command_for(tune.experiment.base, use.changes)) << '\n';
}

}  // namespace loaderscope
