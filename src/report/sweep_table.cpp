// A sweep for people: the answer, a row per case, and a map where two axes are numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/wording.h"
#include "experiment/settings.h"
#include "loaderscope/errors.h"
#include "report/experiment_text.h"
#include "report/sweep_report.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

constexpr int kBarColumns = 20, kFewestBarColumns = 8;

std::string answer_line(const Experiment& experiment, const SweepAnswer& answer) {
  if (!answer.best) return "No case could be run: " + reason_for_nothing(experiment);
  const Case& best = experiment.cases[*answer.best];
  std::string text = fmt::format("Best: {}: {}", settings_text(experiment, best),
                                 show_rate(*answer.rate[*answer.best]));
  if (const auto& busy = answer.busy[*answer.best])
    text += fmt::format(", {} busy", show_percent(std::min(1.0, busy->mean)));
  if (!answer.knee || answer.knee == answer.best) return text;
  const Case& knee = experiment.cases[*answer.knee];
  return text + fmt::format("; knee: {}: {} (within 3 %)", settings_text(experiment, knee),
                            show_rate(*answer.rate[*answer.knee]));
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
                                 plural(runs, "run"), show_duration(experiment.spent));
  if (skipped > 0) text += fmt::format("; {} skipped", skipped);
  if (experiment.interrupted) text += "; interrupted";
  if (waiting > 0)
    text += fmt::format("; {} not run yet: go on with --resume or a longer --budget", waiting);
  if (waiting == 0 && once > 0)
    text += fmt::format("; {} ran only once: go on with --resume or a longer --budget", once);
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

TextTable table_of_cases(const Experiment& experiment, const SweepAnswer& answer, int bar) {
  std::vector<std::string> header;
  for (const Axis& axis : experiment.axes) header.push_back(column_name(axis));
  const std::string settings(header.size(), 'r');
  for (const char* name :
       {"samples/s", "busy %", "GPU time", "CPU-s/1,000", "RSS", "pinned", "shm", ""})
    header.emplace_back(name);
  TextTable table(settings + "rrlrrrrl", header);
  for (std::size_t i = 0; i < experiment.cases.size(); ++i) {
    const Case& one = experiment.cases[i];
    if (!answer.rate[i]) continue;
    std::vector<std::string> row;
    for (const Axis& axis : experiment.axes) row.push_back(setting_text(one, axis.key));
    row.push_back(rate_text(*answer.rate[i]));
    row.push_back(answer.busy[i] ? busy_text(*answer.busy[i]) : "");
    row.push_back(account_bar(last_account(one), bar));
    const std::optional<double> cpu = cpu_per_thousand(one);
    row.push_back(cpu ? fmt::format("{:.3g}", *cpu) : "");
    row.push_back(bytes_text(mean_of(one, &CaseRun::resident)));
    row.push_back(bytes_text(mean_of(one, &CaseRun::pinned)));
    row.push_back(bytes_text(mean_of(one, &CaseRun::shared)));
    row.push_back(remark_on(answer, i));
    table.add(std::move(row));
  }
  return table;
}

// The bar is as long as the page leaves it.
void write_cases(std::ostream& out, const Experiment& experiment, const SweepAnswer& answer,
                 int width) {
  const int beyond =
      static_cast<int>(table_of_cases(experiment, answer, kBarColumns).columns()) - width;
  const int bar = std::max(kFewestBarColumns, kBarColumns - std::max(0, beyond));
  table_of_cases(experiment, answer, bar).print(out);
  const std::string legend = bar_legend(experiment.cases);
  if (!legend.empty()) out << "  " << wrapped(legend, width - 2, 2) << '\n';
}

bool is_numeric(const Axis& axis) {
  return axis.values.size() > 1 &&
         std::all_of(axis.values.begin(), axis.values.end(), [](const std::string& value) {
           try {
             return parse_real(value) >= 0;
           } catch (const ValueError&) {
             return false;
           }
         });
}

// "▓ 1,386": the darker, the nearer to the best of the map.
std::string shaded(double rate, double best) {
  constexpr std::array<const char*, 5> kShades = {" ", "░", "▒", "▓", "█"};
  const auto shade = static_cast<std::size_t>(std::clamp(rate / best * 4.999, 0.0, 4.0));
  return fmt::format("{} {}", kShades.at(shade), show_rate(rate));
}

// Of the first two axes of numbers; of several cases of a cell the best one.
void write_map(std::ostream& out, const Experiment& experiment, const SweepAnswer& answer) {
  std::vector<const Axis*> axes;
  for (const Axis& axis : experiment.axes) {
    if (is_numeric(axis)) axes.push_back(&axis);
  }
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
  out << "samples/s" << (experiment.axes.size() > 2 ? ", the best of the other axes" : "") << ":\n";
  table.print(out);
}

std::vector<std::string> skipped_lines(const Experiment& experiment) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const Case& one : experiment.cases) {
    if (!one.skipped.empty())
      by_reason[one.skipped].push_back(one.changes.empty() ? "the base case"
                                                           : spell_changes(one.changes));
  }
  std::vector<std::string> lines;
  for (const auto& [reason, cases] : by_reason) {
    std::string text = "skipped: " + cases.front();
    if (cases.size() > 1) text += fmt::format(" and {} more", cases.size() - 1);
    lines.push_back(text + ": " + reason);
  }
  return lines;
}

}  // namespace

void write_sweep_table(std::ostream& out, const Experiment& experiment, const ReportStyle& style) {
  const SweepAnswer answer = judge_sweep(experiment);
  const auto line = [&](const std::string& text) {
    out << wrapped(printable(text), style.width, 2) << '\n';
  };
  line(answer_line(experiment, answer));
  line(runs_line(experiment));
  if (answer.best) {
    write_cases(out, experiment, answer, style.width);
    write_map(out, experiment, answer);
  }
  for (const std::string& text : skipped_lines(experiment)) line(text);
  for (const std::string& note : experiment.notes) line("note: " + note);
}

}  // namespace loaderscope
