#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "page/figures.h"
#include "report/draw_steps.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMostStretches = 400;
constexpr std::size_t kMostMarks = 24;  // ends of epochs; more of them are no marks any more
constexpr double kBeyond = 6;           // times the mean: what a picture cuts off

struct Stretch {
  std::int64_t steps = 0;
  double first = 0, last = 0;  // numbers of steps
  Nanos compute = 0, longest = 0;
  PerCause<Nanos> stall{};

  double middle() const { return (first + last) / 2; }
  double mean(Nanos sum) const { return seconds(sum) / static_cast<double>(steps); }
};

struct Steps {
  std::vector<Stretch> stretches;
  std::vector<page::Mark> epochs;
  Nanos sum = 0, longest = 0;
  std::int64_t count = 0;
};

Steps steps_of(const RankRecord& rank) {
  Steps steps;
  steps.count = rank.steps();
  const std::int64_t each = (steps.count + kMostStretches - 1) / kMostStretches;
  std::int64_t at = 0;
  rank.rows.for_each(
      [&](const StepRow& row) {
        if (at++ % each == 0) steps.stretches.emplace_back();
        Stretch& stretch = steps.stretches.back();
        const auto number = static_cast<double>(row.step);
        if (stretch.steps++ == 0) stretch.first = number;
        stretch.last = number;
        const Nanos took = row.compute_end - row.idle_begin;
        stretch.compute += row.compute();
        stretch.longest = std::max(stretch.longest, took);
        for (const auto& word : Words<Cause>::table())
          stretch.stall[word.value] += row.stall[word.value];
        steps.sum += took;
        steps.longest = std::max(steps.longest, took);
        if (row.first_of_epoch && row.step > 0)
          steps.epochs.push_back({number, fmt::format("epoch {} begins", row.epoch)});
      },
      rank.warmup_steps);
  return steps;
}

// Upon each other: compute, then the causes.
std::vector<page::Series> layers_of(const Steps& steps) {
  std::vector<page::Series> layers;
  std::vector<double> top(steps.stretches.size());
  const auto add = [&](std::string_view name, const auto& sum_of) {
    page::Series series{std::string(name), std::string(name), page::Shape::layer, {}};
    bool there = false;
    for (std::size_t i = 0; i < top.size(); ++i) {
      const Stretch& stretch = steps.stretches[i];
      const double height = stretch.mean(sum_of(stretch));
      there = there || height > 0;
      series.points.push_back({stretch.middle(), top[i], top[i], top[i] + height});
      top[i] += height;
    }
    if (there) layers.push_back(std::move(series));
  };
  add("compute", [](const Stretch& stretch) { return stretch.compute; });
  for (const auto& word : Words<Cause>::table())
    add(word.name, [&](const Stretch& stretch) { return stretch.stall[word.value]; });
  return layers;
}

}  // namespace

std::string draw_step_times(const RunRecord& record) {
  if (record.ranks.empty() || record.ranks.front().steps() < 2) return "";
  const Steps steps = steps_of(record.ranks.front());
  page::Plot plot;
  plot.title = "Step by step";
  const double mean = seconds(steps.sum) / static_cast<double>(steps.count);
  const double top = std::min(seconds(steps.longest), kBeyond * mean);
  const auto each = (steps.count + kMostStretches - 1) / kMostStretches;
  if (each > 1)
    plot.note = fmt::format("The means of {} each, and the longest of them.", plural(each, "step"));
  if (record.ranks.size() > 1) plot.note += " Of rank 0.";
  if (seconds(steps.longest) > top)
    plot.note += fmt::format(" The longest step took {}, which is beyond the top.",
                             show_duration(steps.longest));
  plot.x = page::scale_of("step", page::Unit::number, steps.stretches.front().first,
                          steps.stretches.back().last);
  plot.y = page::scale_of("time of a step", page::Unit::seconds, 0, top * 1.05);
  plot.series = layers_of(steps);
  page::Series longest{each > 1 ? "longest step" : "step", "soft", page::Shape::line, {}};
  for (const Stretch& stretch : steps.stretches)
    longest.points.push_back({stretch.middle(), seconds(stretch.longest)});
  plot.series.push_back(std::move(longest));
  if (!steps.epochs.empty() && steps.epochs.size() <= kMostMarks) {
    plot.marks = steps.epochs;
    plot.note += " Dashed: an epoch begins.";
  }
  return drawn(plot);
}

}  // namespace loaderscope
