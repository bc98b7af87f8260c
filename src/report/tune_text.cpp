// Text of a tune: the setting to use, and the basis of the answer.
#include "report/tune_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "analysis/verdict.h"
#include "analysis/wording.h"
#include "loaderscope/settings.h"
#include "report/experiment_text.h"
#include "report/kinds.h"
#include "report/next_command.h"

namespace loaderscope {
namespace {

std::string goal_text(const TuneGoal& goal) {
  if (goal.busy) return fmt::format("{:g} % busy", 100 * *goal.busy);
  return fmt::format("within {:g} % of the best", 100 * goal.within);
}

// "the model expects 800 samples/s with num-workers=8, which was not run"
std::string describe_beyond(const BeyondGrid& beyond) {
  const std::string setting = changes_to_text({beyond.change});
  if (!beyond.left_out.empty()) return setting + " may give more, but: " + beyond.left_out;
  if (!beyond.predicted)
    return "the last value was the best by far, and " + setting + " was not run";
  return fmt::format("the model expects {} samples/s with {}, which was not run",
                     format_rate(beyond.predicted->samples_per_s), setting);
}

// ", the cheapest proven within 3 % of the best"
std::string claim(const Tune& tune) {
  const std::string goal = goal_text(tune.goal);
  if (tune.beyond && tune.goal.busy)
    return ", the best so far: no setting of the grid keeps " + computing(tune) + " " + goal +
           ", and " + describe_beyond(*tune.beyond);
  if (tune.beyond) return ", the best so far: " + describe_beyond(*tune.beyond);
  if (tune.proven)
    return tune.goal.busy ? ", the cheapest proven to keep it " + goal
                          : ", the cheapest proven " + goal;
  if (!tune.goal_reached && tune.goal.busy)
    return ": the best that was measured; no setting of the grid keeps " + computing(tune) + " " +
           goal;
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

std::string answer_line(const Tune& tune, const CaseStatistics& judgement) {
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
  text += fmt::format("{} samples/s ({}-{})", format_rate(rate.mean), format_rate(rate.low),
                      format_rate(rate.high));
  return text + claim(tune);
}

// Returns the gain of the best setting over the recommended one.
std::string best_line(const Tune& tune, const CaseStatistics& judgement) {
  if (!tune.best || tune.best == tune.recommended) return "";
  const double ahead = judgement.rate(*tune.best).mean / judgement.rate(*tune.recommended).mean - 1;
  return fmt::format("best{}: {}: {:+.1f} %", tune.beyond ? " so far" : "",
                     settings_text(tune.experiment, tune.experiment.cases[*tune.best]),
                     100 * ahead);
}

std::string limit_line(const Tune& tune) {
  if (tune.limit.empty() && tune.limit_sentence.empty()) return "";
  std::string text =
      tune.limit.empty()
          ? tune.limit_sentence
          : "The limit is " +
                (tune.limit == "compute" ? computing(tune) : std::string(shown_name(tune.limit)));
  if (!tune.after_next_step) return text;
  text += fmt::format(". Next step up: {}, predicted {} samples/s", changes_to_text(tune.next_step),
                      format_rate(tune.after_next_step->samples_per_s));
  if (tune.after_next_step->busy > 0)
    text += fmt::format(", {} busy", format_percent(tune.after_next_step->busy));
  return text;
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
                            format_percent(*tune.error_median), format_percent(*tune.error_worst));
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
  return fmt::format("The declared --compute {} decides this answer; were it off by {} (model)",
                     find_field("compute")->text(experiment.base), fmt::join(parts, ", by "));
}

std::string alone_line(const Tune& tune) {
  if (!tune.alone) return "";
  const Experiment& experiment = tune.experiment;
  std::string text =
      fmt::format("other programs took {:.1f} of {} meanwhile", tune.alone->other_cores,
                  format_cores(experiment.cases[*tune.recommended].config.declared.cores));
  if (!tune.alone->cheapest) return text + ": on the machine alone the answer may differ";
  const bool same = tune.alone->cheapest == tune.recommended;
  return text +
         fmt::format(
             ": on the machine alone, by the CPU time of its samples, {}, {} "
             "samples/s (model)",
             same ? std::string("the same")
                  : "use " + settings_text(experiment, experiment.cases[*tune.alone->cheapest]),
             format_rate(tune.alone->samples_per_s));
}

}  // namespace

// All cases have the same device.
std::string computing(const Tune& tune) {
  const std::vector<Case>& cases = tune.experiment.cases;
  return std::string(what_computes(cases.empty() ? RunConfig() : cases.front().config));
}

void write_tune_text(TextReport& reading, const Tune& tune, const ReportStyle& style) {
  const CaseStatistics judgement(tune.experiment.cases);
  TextReportBuilder& screen = reading.body;
  screen.wrapped_headline(answer_line(tune, judgement), LineTone::plain);
  if (!tune.recommended) return;
  const Case& use = tune.experiment.cases[*tune.recommended];
  const std::string call =
      is_for_data_loader(use.config) ? data_loader_call(use.config) : dali_arguments(use.config);
  screen.code(LinePriority::advice, "", call);
  if (use.config.trainer.ranks > 1) {
    screen.line(
        LinePriority::advice,
        fmt::format("{} ranks load together: workers and prefetch are of each, rates, cores and "
                    "memory of all",
                    use.config.trainer.ranks.value));
  }
  add_cases(screen, tune, judgement);
  if (style.verbose && style.plots) {
    const Estimates rates = case_rates(tune.experiment, judgement);
    for (std::string& line :
         rate_plot(tune.experiment, rates, {tune.recommended, "use"}, style.width))
      screen.raw(LinePriority::detail, std::move(line));
  }
  screen.line(LinePriority::evidence, best_line(tune, judgement));
  screen.line(LinePriority::evidence, open_line(tune, judgement));
  screen.line(LinePriority::evidence, limit_line(tune));
  screen.line(LinePriority::basis, not_run_line(tune));
  for (const std::string& text : refused_lines(tune)) screen.line(LinePriority::detail, text);
  screen.line(LinePriority::evidence, cost_line(tune));
  screen.line(LinePriority::evidence, shift_line(tune));
  screen.line(LinePriority::evidence, alone_line(tune));
  for (const std::string& note : tune.experiment.notes) screen.note(LinePriority::detail, note);
  reading.last.command(LinePriority::needed, "Next",
                       command_for(tune.experiment.base, use.changes));
  reading.more = "more with -vv: settings that ran, what was not run, notes";
}

}  // namespace loaderscope
