// A sweep for people: the answer, a row per case, and a map where two axes are numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/wording.h"
#include "experiment/settings.h"
#include "loaderscope/errors.h"
#include "report/experiment_text.h"
#include "report/kinds.h"
#include "report/sweep_formats.h"
#include "report/text_report.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

constexpr double kWithin = 0.03;
constexpr int kBarColumns = 20, kMinBarColumns = 8;

// Returns the cases whose interval overlaps the interval of the best. The knee has its own text.
std::string describe_equals(const Experiment& experiment, const SweepAnswer& answer) {
  std::vector<std::size_t> equals;
  for (std::size_t i = 0; i < answer.rate.size(); ++i) {
    if (i == *answer.best || answer.knee == i || !answer.rate[i]) continue;
    if (answer.rate[i]->high >= answer.rate[*answer.best]->low) equals.push_back(i);
  }
  if (equals.empty()) return "";
  const std::string who = equals.size() == 1
                              ? settings_text(experiment, experiment.cases[equals.front()])
                              : fmt::format("{} others", equals.size());
  return fmt::format("; {} may be as fast", who);
}

std::string answer_line(const Experiment& experiment, const SweepAnswer& answer) {
  if (!answer.best) return "No case could be run: " + reason_for_nothing(experiment);
  const Case& best = experiment.cases[*answer.best];
  std::string text = fmt::format("{} gives the most: {}", settings_text(experiment, best),
                                 format_rate(*answer.rate[*answer.best]));
  if (const auto& busy = answer.busy[*answer.best])
    text += fmt::format(", {} busy", format_percent(std::min(1.0, busy->mean)));
  text += describe_equals(experiment, answer);
  if (!answer.knee || answer.knee == answer.best) return text;
  const Case& knee = experiment.cases[*answer.knee];
  const Estimate& rate = *answer.rate[*answer.knee];
  const bool is_within = rate.mean >= (1 - kWithin) * answer.rate[*answer.best]->mean;
  return text + fmt::format("; the knee {} gives {} ({})", settings_text(experiment, knee),
                            format_rate(rate),
                            is_within ? "within 3 %" : "not shown to be 3 % slower");
}

// "8 cases, 16 runs in 31.2 s; 1 skipped"
std::string runs_line(const Experiment& experiment) {
  std::int64_t runs = 0, skipped = 0, waiting = 0, once = 0;
  for (const Case& one : experiment.cases) {
    runs += static_cast<std::int64_t>(one.runs.size());
    skipped += one.skipped.empty() ? 0 : 1;
    waiting += one.skipped.empty() && one.runs.empty() ? 1 : 0;
    once += one.skipped.empty() && one.runs.size() == 1 ? 1 : 0;
  }
  std::string text = fmt::format("{}, {} in {}",
                                 plural(static_cast<std::int64_t>(experiment.cases.size()), "case"),
                                 plural(runs, "run"), spent_text(experiment));
  if (skipped > 0) text += fmt::format("; {} skipped", skipped);
  if (experiment.interrupted) text += "; interrupted";
  if (waiting > 0)
    text += fmt::format("; {} not run yet: continue with --resume or a longer --budget", waiting);
  if (waiting == 0 && once > 0)
    text += fmt::format("; {} ran only once: continue with --resume or a longer --budget", once);
  return text;
}

Account last_account(const Case& one) {
  return one.runs.empty() ? Account{} : one.runs.back().account;
}

std::string remark_on(const SweepAnswer& answer, std::size_t i) {
  std::string text;
  if (answer.knee == i) text = "<- knee";
  if (answer.best == i) text += text.empty() ? "<- best" : ", best";
  return text;
}

// In short only the fastest of many, the knee among them.
std::vector<std::size_t> cases_to_show(const Experiment& experiment, const SweepAnswer& answer,
                                       bool all) {
  constexpr std::size_t kFastest = 12;
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < experiment.cases.size(); ++i) {
    if (answer.rate[i]) shown.push_back(i);
  }
  if (all || shown.size() <= kFastest) return shown;
  std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(answer.knee == a, answer.rate[a]->mean) >
           std::pair(answer.knee == b, answer.rate[b]->mean);
  });
  shown.resize(kFastest);
  std::sort(shown.begin(), shown.end());
  return shown;
}

TextTable table_of_cases(const Experiment& experiment, const SweepAnswer& answer,
                         const std::vector<std::size_t>& shown, int bar) {
  std::vector<std::string> header;
  for (const Axis& axis : experiment.axes) header.push_back(column_name(axis));
  const std::string settings(header.size(), 'r');
  for (const char* name :
       {"samples/s", "busy %", "step time", "CPU-s/1,000", "RSS", "pinned", "shm", ""})
    header.emplace_back(name);
  TextTable table(settings + "rrlrrrrl", header);
  for (const std::size_t i : shown) {
    const Case& one = experiment.cases[i];
    std::vector<std::string> row;
    for (const Axis& axis : experiment.axes) row.push_back(setting_text(one, axis.key));
    row.push_back(rate_text(*answer.rate[i]));
    row.push_back(answer.busy[i] ? busy_text(*answer.busy[i]) : "");
    row.push_back(account_bar(last_account(one), bar));
    const std::optional<double> cpu = cpu_per_thousand(one);
    row.push_back(cpu ? fmt::format("{:.3g}", *cpu) : "");
    row.push_back(bytes_text(mean_bytes(one, &CaseRun::resident)));
    row.push_back(bytes_text(mean_bytes(one, &CaseRun::pinned)));
    row.push_back(bytes_text(mean_bytes(one, &CaseRun::shared)));
    row.push_back(remark_on(answer, i));
    table.add(std::move(row));
  }
  return table;
}

// The bar is as long as the page leaves it.
void add_cases(TextReportBuilder& screen, const Experiment& experiment, const SweepAnswer& answer,
               const ReportStyle& style) {
  const std::vector<std::size_t> shown = cases_to_show(experiment, answer, style.verbose);
  const TextTable widest = table_of_cases(experiment, answer, shown, kBarColumns);
  const int beyond = static_cast<int>(widest.columns()) - style.width;
  const int fitting = std::max(kMinBarColumns, kBarColumns - std::max(0, beyond));
  std::vector<LinePriority> worths;
  for (const std::size_t i : shown)
    worths.push_back(remark_on(answer, i).empty() ? LinePriority::evidence : LinePriority::advice);
  screen.table(LinePriority::advice,
               table_of_cases(experiment, answer, shown, style.drawn ? 0 : fitting), worths);
  const auto measured = std::count_if(answer.rate.begin(), answer.rate.end(),
                                      [](const auto& rate) { return rate.has_value(); });
  if (const auto slower = measured - std::ssize(shown); slower > 0)
    screen.line(LinePriority::evidence,
                fmt::format("  and {} slower ones, with --verbose", slower));
  const std::string legend = bar_legend(experiment.cases);
  if (!legend.empty() && !style.drawn)
    screen.raw(LinePriority::detail, "  " + wrapped(legend, style.width - 2, 2));
}

// "▓ 1,386": the darker, the nearer to the best of the map.
std::string shaded(double rate, double best) {
  constexpr std::array<const char*, 5> kShades = {" ", "░", "▒", "▓", "█"};
  const auto shade = static_cast<std::size_t>(std::clamp(rate / best * 4.999, 0.0, 4.0));
  return fmt::format("{} {}", kShades.at(shade), format_rate(rate));
}

// Adds a map of the first two axes of numbers. A cell shows the best of its cases.
void add_map(TextReportBuilder& screen, const Experiment& experiment, const SweepAnswer& answer) {
  const std::vector<const Axis*> axes = numeric_axes(experiment);
  if (axes.size() < 2 || experiment.one_at_a_time || !answer.best) return;
  std::map<std::pair<std::string, std::string>, double> cells;
  for (std::size_t i = 0; i < experiment.cases.size(); ++i) {
    if (!answer.rate[i]) continue;
    const Case& one = experiment.cases[i];
    double& cell = cells[{setting_text(one, axes[0]->key), setting_text(one, axes[1]->key)}];
    cell = std::max(cell, answer.rate[i]->mean);
  }
  std::vector<std::string> header = {column_name(*axes[0]) + " \\ " + column_name(*axes[1])};
  header.insert(header.end(), axes[1]->values.begin(), axes[1]->values.end());
  TextTable table("r" + std::string(axes[1]->values.size(), 'r'), header);
  for (const std::string& row_value : axes[0]->values) {
    std::vector<std::string> row = {row_value};
    for (const std::string& value : axes[1]->values) {
      auto cell = cells.find({row_value, value});
      if (cell == cells.end()) cell = cells.find({row_value, "-"});
      if (cell == cells.end()) cell = cells.find({"-", value});
      row.push_back(cell == cells.end() ? ""
                                        : shaded(cell->second, answer.rate[*answer.best]->mean));
    }
    table.add(std::move(row));
  }
  std::string map =
      fmt::format("samples/s{}:", experiment.axes.size() > 2 ? ", the best of the other axes" : "");
  for (const std::string& line : table.lines()) map += "\n" + line;
  screen.raw(LinePriority::basis, std::move(map));
}

std::vector<std::string> skipped_lines(const Experiment& experiment) {
  std::map<std::string, std::vector<std::string>> reasons;
  for (const Case& one : experiment.cases) {
    if (!one.skipped.empty())
      reasons[one.skipped].push_back(one.changes.empty() ? "the base case"
                                                         : changes_to_text(one.changes));
  }
  std::vector<std::string> lines;
  for (const auto& [reason, cases] : reasons) {
    std::string text = "Skipped " + cases.front();
    if (cases.size() > 1) text += fmt::format(" and {} more", cases.size() - 1);
    lines.push_back(text + ": " + reason);
  }
  return lines;
}

}  // namespace

void write_sweep_text(TextReport& reading, const Experiment& experiment, const ReportStyle& style) {
  const SweepAnswer answer = judge_sweep(experiment);
  TextReportBuilder& screen = reading.body;
  const std::string formats = format_answer(experiment, answer);
  if (!formats.empty()) screen.wrapped_headline(formats, LineTone::plain);
  if (formats.empty()) screen.wrapped_headline(answer_line(experiment, answer), LineTone::plain);
  screen.line(LinePriority::advice, runs_line(experiment));
  if (!formats.empty()) add_formats(screen, experiment, answer);
  if (answer.best) {
    add_cases(screen, experiment, answer, style);
    if (!style.drawn) add_map(screen, experiment, answer);
    if (style.verbose && style.plots) {
      for (std::string& line :
           rate_plot(experiment, answer.rate, {answer.knee, "knee"}, style.width))
        screen.raw(LinePriority::detail, std::move(line));
    }
  }
  for (const std::string& text : skipped_lines(experiment))
    screen.line(LinePriority::evidence, text);
  for (const std::string& note : experiment.notes) screen.note(LinePriority::detail, note);
  reading.more = "more with -vv: cases, the map, notes";
}

}  // namespace loaderscope
