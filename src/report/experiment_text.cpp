#include "report/experiment_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "experiment/settings.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "record/family_traits.h"
#include "report/text_plot.h"

namespace loaderscope {
namespace {

struct Letter {
  Cause cause;
  char letter;
};

constexpr Letter kLetters[] = {
    {Cause::read, 'r'},   {Cause::decode, 'd'},     {Cause::augment, 'a'},  {Cause::collate, 'c'},
    {Cause::opaque, 'o'}, {Cause::transport, 't'},  {Cause::pin, 'p'},      {Cause::h2d, 'h'},
    {Cause::launch, 'l'}, {Cause::contention, 'x'}, {Cause::prefetch, 'f'}, {Cause::startup, 's'},
    {Cause::other, '.'}};
constexpr double kVisible = 0.02;  // share of the window; smaller parts are not in the legend

Account sum_of_runs(const Case& one) {
  Account sum;
  for (const CaseRun& run : one.runs) {
    sum.window += run.account.window;
    sum.compute += run.account.compute;
    for (std::size_t c = 0; c < kCauses; ++c) sum.stall.at(c) += run.account.stall.at(c);
  }
  return sum;
}

}  // namespace

std::string settings_text(const Experiment& experiment, const Case& one) {
  std::string text;
  for (const Axis& axis : experiment.axes) {
    const std::string value = setting_text(one, axis.key);
    if (value != "-") text += (text.empty() ? "" : " ") + axis.key + "=" + value;
  }
  return text.empty() ? "the base case" : text;
}

// The alias that people type, where there is one.
std::optional<double> number_on(const Case& one, const Axis& axis) {
  try {
    return parse_real(setting_text(one, axis.key));
  } catch (const ValueError&) {
    return std::nullopt;
  }
}

std::vector<const Axis*> numeric_axes(const Experiment& experiment) {
  const auto is_number = [](const std::string& value) {
    try {
      return parse_real(value) >= 0;
    } catch (const ValueError&) {
      return false;
    }
  };
  std::vector<const Axis*> axes;
  for (const Axis& axis : experiment.axes) {
    if (axis.values.size() > 1 && std::all_of(axis.values.begin(), axis.values.end(), is_number))
      axes.push_back(&axis);
  }
  return axes;
}

Estimates case_rates(const Experiment& experiment, const CaseStatistics& judgement) {
  Estimates rates(experiment.cases.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (judgement.measured(i)) rates[i] = judgement.rate(i);
  }
  return rates;
}

std::vector<std::string> rate_plot(const Experiment& experiment, const Estimates& rates,
                                   const MarkedCase& marked, int width) {
  const std::vector<const Axis*> axes = numeric_axes(experiment);
  if (axes.empty()) return {};
  const Axis& along = *axes.front();
  TextPlot plot;
  plot.title = fmt::format("samples/s by {}", column_name(along));
  plot.most = 0;
  std::map<double, std::string> values;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const std::optional<double> x = number_on(experiment.cases[i], along);
    if (!rates[i] || !x) continue;
    values[*x] = setting_text(experiment.cases[i], along.key);
    plot.strokes.push_back({*x, rates[i]->low, rates[i]->high});
    plot.most = std::max(plot.most, rates[i]->high);
  }
  if (values.size() < 3) return {};
  plot.most_text = format_rate(plot.most);
  plot.first = values.begin()->second;
  plot.last = values.rbegin()->second;
  if (marked.number) {
    const Case& at = experiment.cases[*marked.number];
    if (const std::optional<double> x = number_on(at, along)) {
      plot.mark_x = *x;
      plot.mark = fmt::format("{} {}", marked.word, setting_text(at, along.key));
    }
  }
  return plot_lines(plot, width);
}

std::string column_name(const Axis& axis) {
  const Field* field = find_field(axis.key);
  return field == nullptr || field->aliases.empty() ? axis.key
                                                    : std::string(field->aliases.front());
}

std::string rate_text(const Estimate& rate) {
  const Estimate percent = {100, 100 * rate.low / rate.mean, 100 * rate.high / rate.mean};
  if (is_even(percent, 1))
    return fmt::format("{} {} %", format_rate(rate.mean), format_interval(percent, 1));
  return fmt::format("{} {}-{}", format_rate(rate.mean), format_rate(rate.low),
                     format_rate(rate.high));
}

// Levels of several runs may add up to a little more than all of the time.
std::string spent_text(const Experiment& experiment) {
  return format_duration(experiment.spent) +
         (is_model_engine(experiment.base.engine.value) ? " of virtual time" : "");
}

std::string bytes_text(double bytes) { return bytes > 0 ? format_size(bytes) : ""; }

std::string busy_text(const Estimate& busy) {
  return fmt::format("{:.1f} {}", 100 * std::min(1.0, busy.mean), format_interval(busy));
}

// Shares are rounded where their sums end, so that the bar is always as long.
std::string account_bar(const Account& account, int columns) {
  std::string bar;
  double share = window_share(account.compute, account);
  const auto fill = [&](char letter) {
    const auto end = static_cast<std::size_t>(
        std::clamp(std::lround(share * columns), 0L, static_cast<long>(columns)));
    if (end > bar.size()) bar.append(end - bar.size(), letter);
  };
  fill('#');
  for (const auto& [cause, letter] : kLetters) {
    share += window_share(account.stall[cause], account);
    fill(letter);
  }
  return bar;
}

std::string bar_legend(const std::vector<Case>& cases) {
  std::string text;
  const auto add = [&](char letter, std::string_view name, const auto& part) {
    const bool visible = std::any_of(cases.begin(), cases.end(), [&](const Case& one) {
      const Account account = sum_of_runs(one);
      return window_share(part(account), account) >= kVisible;
    });
    if (visible) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", letter, name);
  };
  add('#', "compute", [](const Account& a) { return a.compute; });
  for (const auto& [cause, letter] : kLetters)
    add(letter, shown_name(name_of(cause)),
        [cause = cause](const Account& a) { return a.stall[cause]; });
  return text;
}

double busy_cores(const Case& one) {
  double cpu = 0, window = 0;
  for (const CaseRun& run : one.runs) {
    cpu += run.cpu_s.value_or(0);
    window += seconds(run.account.window);
  }
  return window > 0 ? cpu / window : 0;
}

std::optional<double> cpu_per_thousand(const Case& one) {
  double cpu = 0;
  std::int64_t samples = 0;
  for (const CaseRun& run : one.runs) {
    if (!run.cpu_s) return std::nullopt;
    cpu += *run.cpu_s;
    samples += run.samples;
  }
  if (samples == 0 || cpu <= 0) return std::nullopt;
  return 1000 * cpu / static_cast<double>(samples);
}

double mean_bytes(const Case& one, Bytes CaseRun::*bytes) {
  double sum = 0;
  for (const CaseRun& run : one.runs) sum += static_cast<double>(run.*bytes);
  return one.runs.empty() ? 0 : sum / static_cast<double>(one.runs.size());
}

}  // namespace loaderscope
