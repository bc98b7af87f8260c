// The pictures of sweep and tune: the rate over the settings, and where the time of each case goes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/wording.h"
#include "experiment/settings.h"
#include "page/charts.h"
#include "report/draw_account.h"
#include "report/experiment_text.h"
#include "report/kinds.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxLines = 8, kMaxBars = 24;
constexpr std::array<const char*, kMaxLines> kLineKinds = {
    "plain", "decode", "collate", "augment", "transport", "opaque", "contention", "pin"};

// Returns the settings that are constant along a line of the plot: all but the setting of its axis.
std::string line_name(const Experiment& experiment, const Case& one, const Axis& along) {
  std::string text;
  for (const Axis& axis : experiment.axes) {
    if (axis.key == along.key) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", column_name(axis),
                        setting_text(one, axis.key));
  }
  return text.empty() ? "measured" : text;
}

double highest(const Estimates& rates) {
  double most = 0;
  for (const auto& rate : rates)
    if (rate) most = std::max({most, rate->mean, rate->high});
  return most;
}

// Adds tiles. `path` is the common prefix of their values in the result.
void add_tiles(std::vector<page::Tile>& tiles, const std::string& name, const Estimate& rate,
               const std::optional<Estimate>& busy, const std::string& path) {
  tiles.push_back({name + ", samples per second",
                   format_rate(rate.mean),
                   {rate.mean, path + "samples_per_s.mean"}});
  if (busy)
    tiles.push_back({name + ", busy",
                     format_percent(std::min(1.0, busy->mean)),
                     {busy->mean, path + "busy.mean"}});
}

void add_spent(std::vector<page::Tile>& tiles, const Experiment& experiment) {
  tiles.push_back(
      {"all runs took", format_duration(experiment.spent), {seconds(experiment.spent), "spent_s"}});
}

// Measured rates along the first axis of numbers, with their intervals. `path`: of the rate of a
// case in the result.
std::string draw_rates(const Experiment& experiment, const Estimates& rates,
                       std::optional<std::size_t> chosen, std::string_view chosen_is,
                       std::string_view path) {
  const std::vector<const Axis*> axes = numeric_axes(experiment);
  if (axes.empty()) return "";
  const Axis& along = *axes.front();
  std::map<std::string, page::Series> lines;
  double least = 1e300, most = 0;
  bool has_fractions = false;
  page::Plot plot;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const std::optional<double> x = number_on(experiment.cases[i], along);
    if (!rates[i] || !x) continue;
    least = std::min(least, *x);
    most = std::max(most, *x);
    has_fractions = has_fractions || *x != std::floor(*x);
    page::Series& line = lines[line_name(experiment, experiment.cases[i], along)];
    line.points.push_back({*x, rates[i]->mean, rates[i]->low, rates[i]->high,
                           settings_text(experiment, experiment.cases[i]),
                           fmt::format("cases.{}.{}", i, path)});
    if (chosen == i) plot.marks.push_back({*x, std::string(chosen_is)});
  }
  if (lines.empty() || lines.size() > kMaxLines) return "";
  plot.title = fmt::format("Samples per second by {}", column_name(along));
  plot.note = fmt::format("Means with their 95 % intervals.{}",
                          plot.marks.empty() ? "" : fmt::format(" Dashed: {}.", chosen_is));
  plot.interval = "95 %";
  plot.x =
      page::with_room(has_fractions ? page::linear_scale(along.key, page::Unit::number, least, most)
                                    : page::count_scale(along.key, least, most));
  plot.y = page::linear_scale("samples/s", page::Unit::number, 0, highest(rates) * 1.05);
  std::size_t number = 0;
  for (auto& [name, line] : lines) {
    line.name = name;
    line.kind = kLineKinds[number++];
    std::sort(line.points.begin(), line.points.end(),
              [](const auto& a, const auto& b) { return a.x < b.x; });
    line.shape = page::Shape::line_and_points;
    plot.series.push_back(std::move(line));
  }
  return drawn(plot);
}

// Draws a map of the first two axes of numbers. Each cell has the best value over the other axes.
std::string draw_map(const Experiment& experiment, const Estimates& rates) {
  const std::vector<const Axis*> axes = numeric_axes(experiment);
  if (axes.size() < 2 || experiment.one_at_a_time) return "";
  const Axis &down = *axes[0], &across = *axes[1];
  page::HeatMap map{"Samples per second by two settings",
                    experiment.axes.size() > 2 ? "The best of the other settings." : "",
                    column_name(down),
                    column_name(across),
                    down.values,
                    across.values,
                    {}};
  map.cells.assign(down.values.size(), std::vector<std::optional<double>>(across.values.size()));
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (!rates[i]) continue;
    const auto row = std::find(down.values.begin(), down.values.end(),
                               setting_text(experiment.cases[i], down.key));
    const auto column = std::find(across.values.begin(), across.values.end(),
                                  setting_text(experiment.cases[i], across.key));
    if (row == down.values.end() || column == across.values.end()) continue;
    auto& cell = map.cells[static_cast<std::size_t>(row - down.values.begin())]
                          [static_cast<std::size_t>(column - across.values.begin())];
    cell = std::max(cell.value_or(0), rates[i]->mean);
  }
  return drawn(map);
}

// The time of a sample by what it went to: a bar per case, the fastest ones.
std::string draw_times(const Experiment& experiment, const Estimates& rates) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rates.size(); ++i)
    if (rates[i] && rates[i]->mean > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rates[a]->mean > rates[b]->mean; });
  page::Bars bars;
  bars.title = "Where the time of a sample goes";
  if (order.size() > kMaxBars) bars.note = fmt::format("The {} fastest cases.", kMaxBars);
  for (const std::size_t i : order) {
    if (bars.bars.size() == kMaxBars) break;
    const Case& one = experiment.cases[i];
    const CaseRun& run = one.runs.back();
    const double per_sample = 1 / rates[i]->mean;
    bars.bars.push_back({settings_text(experiment, one),
                         fmt::format("{} samples/s", format_rate(rates[i]->mean)),
                         account_parts(run.account, run.has_busy, per_sample)});
  }
  return drawn(bars);
}

// Draws predicted and measured rates. On the diagonal, the model is exact.
std::string draw_forecasts(const Tune& tune, const Estimates& rates) {
  page::Series cases{"each setting that ran", "plain", page::Shape::points, {}};
  double most = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const std::optional<Forecast>& predicted = tune.candidates[i].predicted;
    if (!rates[i] || !predicted) continue;
    most = std::max({most, predicted->samples_per_s, rates[i]->high});
    cases.points.push_back({predicted->samples_per_s, rates[i]->mean, rates[i]->low, rates[i]->high,
                            settings_text(tune.experiment, tune.experiment.cases[i]),
                            fmt::format("cases.{}.measured.samples_per_s.mean", i)});
  }
  if (cases.points.size() < 2) return "";
  page::Plot plot;
  plot.title = "Predicted and measured";
  plot.note = "On the line the model was right.";
  plot.interval = "95 %";
  plot.x = page::with_room(page::linear_scale("predicted samples/s", page::Unit::number, 0, most));
  plot.y = page::with_room(page::linear_scale("measured samples/s", page::Unit::number, 0, most));
  plot.series = {{"as predicted", "soft", page::Shape::line, {{0, 0}, {most, most}}},
                 std::move(cases)};
  return drawn(plot);
}

}  // namespace

std::string draw_sweep(const Experiment& experiment) {
  const SweepAnswer answer = judge_sweep(experiment);
  std::vector<page::Tile> tiles;
  const auto add = [&](std::string name, const std::optional<std::size_t>& index) {
    if (!index) return;
    const std::string path = fmt::format("cases.{}.", *index);
    add_tiles(tiles, name, *answer.rate[*index], answer.busy[*index], path);
  };
  add("the fastest", answer.best);
  if (answer.knee != answer.best) add("the knee", answer.knee);
  add_spent(tiles, experiment);
  return drawn(tiles) +
         draw_rates(experiment, answer.rate, answer.knee, "the knee", "samples_per_s.mean") +
         draw_map(experiment, answer.rate) + draw_times(experiment, answer.rate);
}

std::string draw_tune(const Tune& tune) {
  const CaseStatistics judgement(tune.experiment.cases);
  const Estimates rates = case_rates(tune.experiment, judgement);
  std::vector<page::Tile> tiles;
  if (tune.recommended) {
    const std::size_t use = *tune.recommended;
    const auto busy =
        judgement.has_busy(use) ? std::optional(judgement.busy(use)) : std::optional<Estimate>();
    add_tiles(tiles, "to use", judgement.rate(use), busy, "recommendation.");
    tiles.push_back({"probability that it does",
                     fmt::format("{:.3g}", tune.probability),
                     {tune.probability, "recommendation.probability"}});
  }
  add_spent(tiles, tune.experiment);
  return drawn(tiles) +
         draw_rates(tune.experiment, rates, tune.recommended, "the one to use",
                    "measured.samples_per_s.mean") +
         draw_times(tune.experiment, rates) + draw_forecasts(tune, rates);
}

}  // namespace loaderscope
