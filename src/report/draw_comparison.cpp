// The pictures of a comparison: by how much each quantity changed, and the runs one by one.
#include <fmt/format.h>

#include <algorithm>

#include "page/charts.h"
#include "report/compare_text.h"
#include "report/kinds.h"

namespace loaderscope::compare {
namespace {

std::string colour_kind(Outcome verdict) {
  switch (verdict) {
    case Outcome::worse:
      return "bad";
    case Outcome::better:
      return "good";
    case Outcome::same:
      return "plain";
    case Outcome::cannot_tell:
      break;
  }
  return "soft";
}

std::string draw_changes(const ComparisonResult& judgement) {
  page::Ranges ranges;
  ranges.title = "What changed";
  ranges.note = "B against A, with 95 % intervals.";
  ranges.columns = {"least", "change", "most"};
  double least = -0.01, most = 0.01;
  for (std::size_t i = 0; i < judgement.differences.size(); ++i) {
    const Difference& one = judgement.differences[i];
    if (!(one.change.low <= one.change.high)) continue;
    ranges.rows.push_back({spoken(one.name),
                           colour_kind(one.verdict),
                           {one.change.low, one.change.mean, one.change.high},
                           1,
                           verdict_word(one),
                           fmt::format("differences.{}.change.mean", i)});
    least = std::min(least, one.change.low);
    most = std::max(most, one.change.high);
  }
  ranges.scale = page::linear_scale("", page::Unit::share, least * 1.05, most * 1.05);
  return drawn(ranges);
}

std::string draw_runs(const Comparison& comparison) {
  page::Plot plot;
  plot.title = "The runs, in the order in which they were made";
  plot.series = {{"A", "plain", page::Shape::points, {}}, {"B", "decode", page::Shape::points, {}}};
  double most = 0;
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    const SideRun& run = comparison.runs[i];
    const std::optional<double> rate = value_of(run.quantities, "samples-per-s");
    if (!rate) continue;
    most = std::max(most, *rate);
    plot.series[run.arm == 0 ? 0 : 1].points.push_back(
        {static_cast<double>(i + 1), *rate, *rate, *rate, "",
         fmt::format("runs.{}.quantities.samples-per-s", i)});
  }
  if (comparison.runs.size() < 4 || most <= 0) return "";
  plot.x =
      page::with_room(page::count_scale("run", 1, static_cast<double>(comparison.runs.size())));
  plot.y = page::linear_scale("samples/s", page::Unit::number, 0, most * 1.05);
  return drawn(plot);
}

}  // namespace

std::string draw_comparison(const Comparison& comparison) {
  return draw_changes(judge(comparison)) + draw_runs(comparison);
}

}  // namespace loaderscope::compare
