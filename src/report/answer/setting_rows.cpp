#include "report/answer/setting_rows.h"

#include <algorithm>

#include "experiment/settings.h"
#include "loaderscope/run_config.h"
#include "report/answer/plain_figures.h"
#include "report/answer/setting_words.h"
#include "report/experiment_text.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxAxes = 2;

bool agree_on(const Case& one, const Case& other, const Axis& axis) {
  return setting_text(one, axis.key) == setting_text(other, axis.key);
}

// The axes on which the rows differ, or else the first axis.
std::vector<const Axis*> shown_axes(const Experiment& experiment,
                                    const std::vector<SettingRow>& rows) {
  std::vector<const Axis*> shown;
  const std::vector<const Axis*> axes = axes_by_importance(experiment);
  for (const Axis* axis : axes) {
    const bool is_varied = std::any_of(rows.begin(), rows.end(), [&](const SettingRow& row) {
      return !agree_on(experiment.cases[row.number], experiment.cases[rows.front().number], *axis);
    });
    if (is_varied && shown.size() < kMaxAxes) shown.push_back(axis);
  }
  if (shown.empty() && !axes.empty()) shown.push_back(axes.front());
  return shown;
}

// Returns "->    8", with the arrow at the left of the column.
std::string with_arrow(const std::string& value, std::size_t columns) {
  const std::size_t has = count_columns(value) + 2;
  return "->" + std::string(columns > has ? columns - has : 1, ' ') + value;
}

}  // namespace

std::vector<const Axis*> axes_by_importance(const Experiment& experiment) {
  std::vector<const Axis*> axes;
  for (const Axis& axis : experiment.axes)
    if (axis.values.size() > 1) axes.push_back(&axis);
  std::stable_sort(axes.begin(), axes.end(), [](const Axis* a, const Axis* b) {
    return a->key == "num-workers" && b->key != "num-workers";
  });
  return axes;
}

std::vector<std::size_t> cases_around(const Experiment& experiment, std::size_t around,
                                      std::size_t varied) {
  const std::vector<const Axis*> axes = axes_by_importance(experiment);
  std::vector<std::size_t> cases;
  for (std::size_t i = 0; i < experiment.cases.size(); ++i) {
    bool is_near = true;
    for (std::size_t a = varied; a < axes.size(); ++a)
      is_near = is_near && agree_on(experiment.cases[i], experiment.cases[around], *axes[a]);
    if (is_near) cases.push_back(i);
  }
  std::stable_sort(cases.begin(), cases.end(), [&](std::size_t one, std::size_t other) {
    for (std::size_t a = 0; a < std::min(varied, axes.size()); ++a) {
      const std::optional<double> first = number_on(experiment.cases[one], *axes[a]),
                                  second = number_on(experiment.cases[other], *axes[a]);
      if (first != second) return first.value_or(0) < second.value_or(0);
    }
    return false;
  });
  return cases;
}

bool is_same_except_first(const Experiment& experiment, std::size_t one, std::size_t other) {
  const std::vector<const Axis*> axes = axes_by_importance(experiment);
  return axes.empty() || std::all_of(axes.begin() + 1, axes.end(), [&](const Axis* axis) {
           return agree_on(experiment.cases[one], experiment.cases[other], *axis);
         });
}

std::string first_difference(const Experiment& experiment, std::size_t one,
                             std::optional<std::size_t> other) {
  const Case& chosen = experiment.cases[one];
  for (const Axis* axis : axes_by_importance(experiment)) {
    const std::string value = setting_text(chosen, axis->key);
    if (value == "-" || (other && agree_on(chosen, experiment.cases[*other], *axis))) continue;
    return python_words({{axis->key, value}});
  }
  if (other && *other != one) return python_words(chosen.changes);
  return chosen.changes.empty() ? "the present setting" : python_words({chosen.changes.front()});
}

TextTable settings_table(const Experiment& experiment, const std::vector<SettingRow>& rows,
                         const std::string& busy_heading) {
  if (rows.empty()) return TextTable("");
  const std::vector<const Axis*> axes = shown_axes(experiment, rows);
  std::vector<std::string> header;
  for (const Axis* axis : axes) header.push_back(column_name(*axis));
  for (const std::string& name : {std::string(" samples/s"), busy_heading, std::string()})
    header.push_back(name);
  TextTable table(std::string(axes.size() + 2, 'r') + "l", header);
  std::size_t widest = axes.empty() ? 0 : count_columns(header.front());
  for (const SettingRow& row : rows)
    if (!axes.empty())
      widest = std::max(
          widest, count_columns(setting_text(experiment.cases[row.number], axes.front()->key)) + 3);
  for (const SettingRow& row : rows) {
    std::vector<std::string> cells;
    for (const Axis* axis : axes) {
      const std::string value = setting_text(experiment.cases[row.number], axis->key);
      cells.push_back(row.is_marked && cells.empty() ? with_arrow(value, widest) : value);
    }
    cells.push_back(plain_rate(row.samples_per_s));
    cells.push_back(row.busy ? whole_percent(std::min(1.0, *row.busy)) : "");
    cells.push_back(row.remark);
    table.add(std::move(cells));
  }
  return table;
}

void name_simulated_gpu(Answer& answer, const RunConfig& config) {
  if (device_kind(config.trainer.device.value) != DeviceKind::simulated) return;
  constexpr std::string_view kSimulatedGpu = " (simulated GPU)";
  if (count_columns(answer.headline) + kSimulatedGpu.size() <=
      static_cast<std::size_t>(kMaxAnswerColumns))
    answer.headline += kSimulatedGpu;
  else
    answer.ending = kSimulatedGpu.substr(1);
}

}  // namespace loaderscope
