// A tune for people: the setting to use, what ran beside it, and what the answer rests on.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "analysis/verdict.h"
#include "analysis/wording.h"
#include "experiment/judgement.h"
#include "experiment/settings.h"
#include "loaderscope/settings.h"
#include "report/experiment_text.h"
#include "report/kinds.h"
#include "report/next_command.h"
#include "report/screen.h"
#include "report/text_table.h"
#include "settings/engine_table.h"

namespace loaderscope {
namespace {

// All cases have the same device.
std::string computing(const Tune& tune) {
  const std::vector<Case>& cases = tune.experiment.cases;
  return std::string(what_computes(cases.empty() ? RunConfig() : cases.front().config));
}

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
  if (!tune.goal_reached && tune.goal.busy)
    return ": the best there is; no setting of the grid keeps " + computing(tune) + " " + goal;
  if (!tune.goal_reached) {
    return ", the best that was measured, not proven " + goal +
           " (the model expects more of others); give a longer --budget";
  }
  const Case& use = tune.experiment.cases[*tune.recommended];
  const bool is_alone = use.runs.size() < 2 || tune.probability >= 0.95;
  const std::string doubt =
      is_alone ? "its rivals have not run" : fmt::format("P = {:.2f}", tune.probability);
  return fmt::format(", the cheapest that may be {}, not proven ({}); give a longer --budget", goal,
                     doubt);
}

std::string answer_line(const Tune& tune, const Judgement& judgement) {
  if (!tune.recommended) return "No setting could be run: " + reason_for_nothing(tune);
  const std::size_t i = *tune.recommended;
  const std::string settings = settings_text(tune.experiment, tune.experiment.cases[i]);
  std::string text = fmt::format("Use {}: ", settings);
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

std::string mark_of(const Tune& tune, std::size_t i) {
  if (tune.recommended == i) return "use ->";
  return tune.best == i ? "best" : "";
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

// What a case keeps in memory: as measured, or its slots where nothing is written.
std::string memory_text(const Case& one) {
  const double resident = mean_of(one, &CaseRun::resident);
  const bool is_real = !is_model_engine(one.config.engine.value) && resident > 0;
  return bytes_text(is_real ? resident : static_cast<double>(price_of(one.config).slots));
}

// Busy stands for the rate where there is a compute: the two go together.
std::string predicted_text(const Tune& tune, std::size_t i, bool busy) {
  const auto& predicted = tune.candidates[i].predicted;
  if (!predicted) return "";
  return busy ? fmt::format("{:.1f}", 100 * predicted->busy) : show_rate(predicted->samples_per_s);
}

std::string cores_heading(const Experiment& experiment) {
  for (const Case& one : experiment.cases) {
    if (!one.runs.empty()) return "of " + show_cores(one.config.declared.cores);
  }
  return "cores";
}

void add_cases(Screen& screen, const Tune& tune, const Judgement& judgement) {
  const Experiment& experiment = tune.experiment;
  std::vector<std::string> header = {""};
  for (const Axis& axis : experiment.axes) header.push_back(column_name(axis));
  const std::string cores = cores_heading(experiment);
  for (const std::string& name :
       {std::string("busy %"), std::string("model"), std::string("samples/s"), std::string("model"),
        cores, std::string("memory"), std::string("shm"), std::string("runs")})
    header.push_back(name);
  TextTable table("l" + std::string(experiment.axes.size(), 'r') + "rrrrrrrr", header);
  const std::vector<std::size_t> order = measured_by_price(tune, judgement);
  for (const std::size_t i : order) {
    const Case& one = experiment.cases[i];
    const bool busy = judgement.has_busy(i);
    std::vector<std::string> row = {mark_of(tune, i)};
    for (const Axis& axis : experiment.axes) row.push_back(setting_text(one, axis.key));
    row.push_back(busy ? busy_text(judgement.busy(i)) : "");
    row.push_back(busy ? predicted_text(tune, i, true) : "");
    row.push_back(busy ? show_rate(judgement.rate(i).mean) : rate_text(judgement.rate(i)));
    row.push_back(busy ? "" : predicted_text(tune, i, false));
    row.push_back(cores_of(one) > 0 ? fmt::format("{:.2f}", cores_of(one)) : "");
    row.push_back(memory_text(one));
    row.push_back(bytes_text(mean_of(one, &CaseRun::shared)));
    row.push_back(std::to_string(one.runs.size()));
    table.add(std::move(row));
  }
  std::vector<Worth> worths;
  for (const std::size_t i : order)
    worths.push_back(mark_of(tune, i).empty() ? Worth::basis : Worth::evidence);
  screen.table(Worth::evidence, table, worths);
}

// What the best one would give beyond the one to use.
std::string best_line(const Tune& tune, const Judgement& judgement) {
  if (!tune.best || tune.best == tune.recommended) return "";
  const double ahead = judgement.rate(*tune.best).mean / judgement.rate(*tune.recommended).mean - 1;
  return fmt::format("best: {}: {:+.1f} %",
                     settings_text(tune.experiment, tune.experiment.cases[*tune.best]),
                     100 * ahead);
}

// Cheaper ones that may do as well, which more runs would tell.
std::string open_line(const Tune& tune, const Judgement& judgement) {
  constexpr double kRuledOut = 0.05;
  const std::vector<Case>& cases = tune.experiment.cases;
  std::string text;
  for (const std::size_t i : measured_by_price(tune, judgement)) {
    const double chance = tune.goal.busy ? judgement.keeps_busy(i, *tune.goal.busy)
                                         : judgement.reaches_best(i, tune.goal.share());
    const bool is_cheaper = price_of(cases[i].config) < price_of(cases[*tune.recommended].config);
    if (is_cheaper && chance >= kRuledOut)
      text += (text.empty() ? "cheaper and not ruled out: " : ", ") +
              settings_text(tune.experiment, cases[i]);
  }
  return text;
}

std::string limit_line(const Tune& tune) {
  if (tune.limit.empty() && tune.limit_sentence.empty()) return "";
  std::string text = "limit: ";
  text += tune.limit.empty()        ? tune.limit_sentence
          : tune.limit == "compute" ? computing(tune)
                                    : tune.limit;
  if (!tune.after_next_step) return text;
  text += fmt::format(". Next step up: {}, predicted {} samples/s", spell_changes(tune.next_step),
                      show_rate(tune.after_next_step->samples_per_s));
  if (tune.after_next_step->busy > 0)
    text += fmt::format(", {} busy", show_percent(tune.after_next_step->busy));
  return text;
}

// Why a case did not run, beside that it cannot.
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
  const bool cheaper = price_of(cases[i].config) < price_of(cases[*tune.recommended].config);
  return cheaper ? NotRun::cheaper : NotRun::dearer;
}

// What the model says of those that did not run.
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
  const std::string miss = tune.goal.busy
                               ? fmt::format("that keep {} busy less than {}", computing(tune),
                                             show_percent(*tune.goal.busy))
                               : fmt::format("slower by more than {:g} %", 100 * tune.goal.within);
  const std::pair<NotRun, std::string> words[] = {
      {NotRun::short_of_goal, miss + " (model)"},
      {NotRun::dearer,
       fmt::format("that cost more for at most {:.1f} % more (model)", 100 * most_gain)},
      {NotRun::cheaper, "that cost less and would do (model); give a longer --budget"},
      {NotRun::unknown, "without a prediction"}};
  std::vector<std::string> parts;
  for (const auto& [kind, text] : words) {
    if (count[kind] > 0) parts.push_back(fmt::format("{} {}", count[kind], text));
  }
  return parts.empty() ? "" : fmt::format("not run: {}", fmt::join(parts, ", "));
}

// How much each one would take differs; what it is too much for is the same.
std::string kind_of(const std::string& reason) {
  const auto limit = reason.find(", more than");
  return limit == reason.npos ? reason : reason.substr(limit);
}

std::vector<std::string> refused_lines(const Tune& tune) {
  std::map<std::string, std::vector<std::string>> by_kind;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    const Case& one = tune.experiment.cases[i];
    const std::string& reason = one.skipped.empty() ? tune.candidates[i].refused : one.skipped;
    if (!reason.empty())
      by_kind[kind_of(reason)].push_back(settings_text(tune.experiment, one) + ": " + reason);
  }
  std::vector<std::string> lines;
  for (const auto& [kind, cases] : by_kind) {
    const std::string more =
        cases.size() > 1 ? fmt::format("; {} more alike", cases.size() - 1) : "";
    lines.push_back("not run: " + cases.front() + more);
  }
  return lines;
}

std::string cost_line(const Tune& tune) {
  std::int64_t ran = 0;
  for (const Case& one : tune.experiment.cases) ran += one.runs.empty() ? 0 : 1;
  std::string text = fmt::format("{} of {} settings run, {}", ran, tune.experiment.cases.size(),
                                 spent_text(tune.experiment));
  if (tune.grid_time > 0) {
    text += fmt::format(
        " ({:.0f} % of two runs of each)",
        100 * static_cast<double>(tune.experiment.spent) / static_cast<double>(tune.grid_time));
  }
  if (tune.experiment.interrupted) text += ", interrupted";
  if (tune.experiment.budget_spent) text += ", the budget is spent";
  if (tune.grid_spent) text += ", as long as the plain grid would take";
  if (!tune.error_worst) return text;
  return text + fmt::format("; model error on them: median {}, worst {}",
                            show_percent(*tune.error_median), show_percent(*tune.error_worst));
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

std::string alone_line(const Tune& tune) {
  if (!tune.alone) return "";
  const Experiment& experiment = tune.experiment;
  std::string text =
      fmt::format("other programs took {:.1f} of {} meanwhile", tune.alone->other_cores,
                  show_cores(experiment.cases[*tune.recommended].config.declared.cores));
  if (!tune.alone->cheapest) return text + ": on the machine alone the answer may differ";
  const bool same = tune.alone->cheapest == tune.recommended;
  return text +
         fmt::format(
             ": on the machine alone, by the CPU time of its samples, {}, {} "
             "samples/s (model)",
             same ? std::string("the same")
                  : "use " + settings_text(experiment, experiment.cases[*tune.alone->cheapest]),
             show_rate(tune.alone->samples_per_s));
}

}  // namespace

void tell_tune(Reading& reading, const Tune& tune, const ReportStyle& style) {
  const Judgement judgement(tune.experiment.cases);
  Screen& screen = reading.body;
  screen.wrapped_headline(answer_line(tune, judgement), Tone::plain);
  if (!tune.recommended) return;
  const Case& use = tune.experiment.cases[*tune.recommended];
  const std::string call =
      is_for_data_loader(use.config) ? data_loader_call(use.config) : dali_arguments(use.config);
  screen.code(Worth::advice, "", call);
  if (use.config.trainer.ranks > 1) {
    screen.line(
        Worth::advice,
        fmt::format("{} ranks load together: workers and prefetch are of each, rates, cores and "
                    "memory of all",
                    use.config.trainer.ranks.value));
  }
  add_cases(screen, tune, judgement);
  if (style.verbose && style.plots) {
    const Estimates rates = rates_of(tune.experiment, judgement);
    for (std::string& line :
         rate_plot(tune.experiment, rates, {tune.recommended, "use"}, style.width))
      screen.raw(Worth::detail, std::move(line));
  }
  screen.line(Worth::evidence, best_line(tune, judgement));
  screen.line(Worth::evidence, open_line(tune, judgement));
  screen.line(Worth::evidence, limit_line(tune));
  screen.line(Worth::basis, not_run_line(tune));
  for (const std::string& text : refused_lines(tune)) screen.line(Worth::detail, text);
  screen.line(Worth::evidence, cost_line(tune));
  screen.line(Worth::evidence, shift_line(tune));
  screen.line(Worth::evidence, alone_line(tune));
  for (const std::string& note : tune.experiment.notes) screen.line(Worth::detail, "note: " + note);
  reading.last.command(Worth::needed, "next", command_for(tune.experiment.base, use.changes));
  reading.more = "more with --verbose: settings that ran, what was not run, notes";
}

}  // namespace loaderscope
