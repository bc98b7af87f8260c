#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "analysis/wording.h"
#include "page/charts.h"
#include "record/family_traits.h"
#include "report/draw_steps.h"
#include "report/step_buckets.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxStretches = 400;
constexpr std::size_t kMaxMarks = 24;  // ends of epochs; more of them are no marks any more

struct ReadyGroup {
  std::int32_t most;  // number of batches
  const char *name, *kind;
};
constexpr ReadyGroup kReady[] = {
    {0, "none", "warning"},
    {1, "1", "ready-1"},
    {3, "2 or 3", "ready-2"},
    {7, "4 to 7", "ready-3"},
    {15, "8 to 15", "ready-4"},
    {std::numeric_limits<std::int32_t>::max(), "16 or more", "ready-5"}};

// Upon each other: compute, then the causes.
std::vector<page::Series> make_layers(const StepBuckets& steps) {
  std::vector<page::Series> layers;
  std::vector<double> top(steps.list.size());
  const auto add = [&](std::string_view name, const auto& layer_sum) {
    page::Series series{std::string(name), std::string(name), page::Shape::layer, {}};
    bool there = false;
    for (std::size_t i = 0; i < top.size(); ++i) {
      const StepStretch& stretch = steps.list[i];
      const double height = stretch.mean(layer_sum(stretch));
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

std::string draw_step_times(const RunRecord& record, std::size_t rank) {
  if (record.ranks[rank].steps() < 2) return "";
  const StepBuckets steps = step_stretches(record.ranks[rank], kMaxStretches);
  page::Plot plot;
  plot.title = "Step by step";
  if (steps.each > 1)
    plot.note =
        fmt::format("The means of {} each, and the longest of them.", plural(steps.each, "step"));
  if (record.ranks.size() > 1) plot.note += fmt::format(" Of rank {}.", rank);
  if (steps.is_cut())
    plot.note += fmt::format(" The longest step took {}, which is beyond the top.",
                             format_duration(steps.longest));
  plot.x = page::count_scale("step", steps.list.front().middle(), steps.list.back().middle());
  plot.y = page::linear_scale("time of a step", page::Unit::seconds, 0, steps.top() * 1.05);
  plot.series = make_layers(steps);
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

std::string draw_ready(const RunRecord& record, std::size_t rank) {
  if (record.ranks[rank].steps() < 2) return "";
  if (is_trace_engine(record.engine)) return "";  // unknown for a trace
  std::array<std::int64_t, std::size(kReady)> steps{};
  const std::vector<std::int32_t> ready = ready_when_asked(record.ranks[rank]);
  for (const std::int32_t batches : ready) {
    const auto* const group =
        std::find_if(std::begin(kReady), std::end(kReady),
                     [&](const ReadyGroup& one) { return batches <= one.most; });
    ++steps[static_cast<std::size_t>(group - kReady)];
  }
  page::Bars bars;
  bars.title = "Batches ready when the trainer asked";
  bars.note = "Share of the steps. With no batch ready, the trainer waits.";
  if (record.ranks.size() > 1) bars.note += fmt::format(" Of rank {}.", rank);
  page::Bar bar;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] == 0) continue;
    const double share = static_cast<double>(steps[i]) / static_cast<double>(ready.size());
    bar.parts.push_back({kReady[i].name, kReady[i].kind, share, format_percent(share)});
  }
  bars.bars.push_back(std::move(bar));
  return drawn(bars);
}

}  // namespace loaderscope
