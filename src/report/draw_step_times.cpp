#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "page/charts.h"
#include "report/draw_steps.h"
#include "report/step_buckets.h"
#include "settings/engine_table.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxStretches = 400;
constexpr std::size_t kMaxMarks = 24;  // ends of epochs; more of them are no marks any more

// Upon each other: compute, then the causes.
std::vector<page::Series> layers_of(const StepBuckets& steps) {
  std::vector<page::Series> layers;
  std::vector<double> top(steps.list.size());
  const auto add = [&](std::string_view name, const auto& sum_of) {
    page::Series series{std::string(name), std::string(name), page::Shape::layer, {}};
    bool there = false;
    for (std::size_t i = 0; i < top.size(); ++i) {
      const StepStretch& stretch = steps.list[i];
      const double height = stretch.mean(sum_of(stretch));
      there = there || height > 0;
      series.points.push_back({stretch.middle(), top[i], top[i], top[i] + height});
      top[i] += height;
    }
    if (there) layers.push_back(std::move(series));
  };
  add("compute", [](const StepStretch& stretch) { return stretch.compute; });
  for (const auto& word : Words<Cause>::table())
    add(word.name, [&](const StepStretch& stretch) { return stretch.stall[word.value]; });
  return layers;
}

}  // namespace

std::string draw_step_times(const RunRecord& record) {
  if (record.ranks.empty() || record.ranks.front().steps() < 2) return "";
  const StepBuckets steps = step_stretches(record.ranks.front(), kMaxStretches);
  page::Plot plot;
  plot.title = "Step by step";
  if (steps.each > 1)
    plot.note =
        fmt::format("The means of {} each, and the longest of them.", plural(steps.each, "step"));
  if (record.ranks.size() > 1) plot.note += " Of rank 0.";
  if (steps.is_cut())
    plot.note += fmt::format(" The longest step took {}, which is beyond the top.",
                             format_duration(steps.longest));
  plot.x = page::scale_of("step", page::Unit::number, steps.list.front().middle(),
                          steps.list.back().middle());
  plot.y = page::scale_of("time of a step", page::Unit::seconds, 0, steps.top() * 1.05);
  plot.series = layers_of(steps);
  page::Series longest{steps.each > 1 ? "longest step" : "step", "soft", page::Shape::line, {}};
  for (const StepStretch& stretch : steps.list)
    longest.points.push_back({stretch.middle(), seconds(stretch.longest)});
  plot.series.push_back(std::move(longest));
  if (!steps.epochs.empty() && steps.epochs.size() <= kMaxMarks) {
    for (const auto& [step, epoch] : steps.epochs)
      plot.marks.push_back({static_cast<double>(step), fmt::format("epoch {} begins", epoch)});
    plot.note += " Dashed: an epoch begins.";
  }
  return drawn(plot);
}

std::string draw_ready(const RunRecord& record) {
  if (record.ranks.empty() || record.ranks.front().steps() < 2) return "";
  if (is_trace_engine(record.engine)) return "";  // unknown for a trace
  const RankRecord& rank = record.ranks.front();
  const StepBuckets steps = step_stretches(rank, kMaxStretches);
  const std::vector<std::int32_t> ready = ready_when_asked(rank);
  page::Series range{"fewest to most", "plain", page::Shape::band, {}};
  page::Series mean{"mean", "plain", page::Shape::line, {}};
  double most = 1;
  auto at = ready.begin();
  for (const StepStretch& stretch : steps.list) {
    const auto end = at + stretch.steps;
    const auto [low, high] = std::minmax_element(at, end);
    const double sum = std::accumulate(at, end, 0.0);
    mean.points.push_back({stretch.middle(), sum / static_cast<double>(stretch.steps)});
    range.points.push_back(
        {stretch.middle(), 0, static_cast<double>(*low), static_cast<double>(*high)});
    most = std::max(most, range.points.back().high);
    at = end;
  }
  page::Plot plot;
  plot.title = "Batches ready when the trainer asked";
  plot.note = "At 0 it waits for the loader.";
  if (record.ranks.size() > 1) plot.note += " Of rank 0.";
  plot.x = page::scale_of("step", page::Unit::number, steps.list.front().middle(),
                          steps.list.back().middle());
  plot.y = page::scale_of("batches", page::Unit::number, 0, most * 1.05);
  if (steps.each > 1) {
    plot.series.push_back(std::move(range));
    plot.interval = "fewest to most";
  }
  plot.series.push_back(std::move(mean));
  return drawn(plot);
}

}  // namespace loaderscope
