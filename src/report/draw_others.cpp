// The pictures of a what-if, a self-test, a link matrix and data sets.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/wording.h"
#include "page/charts.h"
#include "report/draw_account.h"
#include "report/kinds.h"
#include "report/what_if_report.h"

namespace loaderscope {

std::string draw_what_if(const WhatIf& answer) {
  page::Bars bars;
  bars.title = "Where the time of a sample goes";
  const auto add = [&](const WhatIfCase& one) {
    if (one.samples_per_s > 0)
      bars.bars.push_back({one.name, fmt::format("{} samples/s", format_rate(one.samples_per_s)),
                           account_parts(one.account, one.has_busy, 1 / one.samples_per_s)});
  };
  if (answer.measured) add(*answer.measured);
  add(answer.fitted);
  if (answer.predicted) add(*answer.predicted);
  if (answer.verified) add(*answer.verified);
  return drawn(bars);
}

std::string draw_selftest(const selftest::Result& result) {
  page::Ranges ranges;
  ranges.title = "How much of each delay was found";
  ranges.note = "All rounds, their median large; all of a delay is 100 %.";
  double least = 0.9, most = 1.1;
  for (const selftest::Recovery& recovery : result.stages) {
    std::vector<double> at;
    for (const PerCause<double>& round : recovery.growth)
      at.push_back(round[recovery.cause()] / recovery.injected_s);
    if (at.empty()) continue;
    std::sort(at.begin(), at.end());
    least = std::min(least, at.front());
    most = std::max(most, at.back());
    const std::size_t middle = (at.size() - 1) / 2;
    ranges.rows.push_back({fmt::format("{}: {}", recovery.pipeline, name_of(recovery.stage)),
                           recovery.found() ? "good" : "bad", std::move(at), middle,
                           format_percent(recovery.share())});
  }
  ranges.scale = page::linear_scale("of what was injected", page::Unit::share, least, most);
  return drawn(ranges);
}

}  // namespace loaderscope

namespace loaderscope::probe {

std::string draw_link(const LinkMatrix& matrix) {
  page::Plot plot;
  plot.title = "Host to device by the size of a copy";
  plot.note = "Medians, with the slowest and the fastest sample; copies without waiting.";
  plot.interval = "slowest to fastest";
  const std::map<MemoryMode, const char*> kinds = {{MemoryMode::pageable, "decode"},
                                                   {MemoryMode::pin_thread, "plain"},
                                                   {MemoryMode::pinned_slots, "collate"},
                                                   {MemoryMode::registered, "augment"},
                                                   {MemoryMode::write_combined, "transport"}};
  double least = 1e300, largest = 0, fastest = 0;
  for (const auto& [memory, kind] : kinds) {
    page::Series line{std::string(name_of(memory)), kind, page::Shape::line_and_points, {}};
    for (const LinkCell& cell : matrix.cells) {
      if (cell.memory != memory || cell.copy != CopyMode::async) continue;
      const auto bytes = static_cast<double>(cell.bytes);
      least = std::min(least, bytes);
      largest = std::max(largest, bytes);
      fastest = std::max(fastest, cell.high);
      line.points.push_back({bytes, cell.median, cell.low, cell.high, {}});
    }
    plot.series.push_back(std::move(line));
  }
  if (largest <= 0) return "";
  plot.x = page::logarithmic_scale("bytes", page::Unit::bytes, least, largest);
  plot.y = page::linear_scale("bytes per second", page::Unit::bytes, 0, fastest * 1.05);
  return drawn(plot);
}

}  // namespace loaderscope::probe

namespace loaderscope::dataset {
namespace {

page::Range make_range(const char* label, const Measure& measure) {
  page::Range range{label, "plain", {}, 2, ""};
  range.at.push_back(static_cast<double>(measure.least));
  for (const double q : {0.1, 0.5, 0.9, 0.99})
    range.at.push_back(
        std::max(range.at.back(), static_cast<double>(measure.histogram.quantile(q))));
  range.at.push_back(std::max(range.at.back(), static_cast<double>(measure.most)));
  return range;
}

const std::vector<std::string> kSizeNames = {"least", "10 %", "median", "90 %", "99 %", "most"};

}  // namespace

std::string draw_info(const DatasetInfo& info) {
  if (info.images == 0) return "";
  page::Ranges stored, pixels;
  stored.title = "How many bytes an image has";
  stored.rows = {make_range("stored", info.stored_bytes)};
  stored.scale = page::linear_scale("bytes", page::Unit::bytes, 0,
                                    static_cast<double>(info.stored_bytes.most));
  pixels.title = "How large images are";
  pixels.rows = {make_range("width", info.widths), make_range("height", info.heights)};
  pixels.scale =
      page::linear_scale("pixels", page::Unit::number, 0,
                         static_cast<double>(std::max(info.widths.most, info.heights.most)));
  stored.columns = pixels.columns = kSizeNames;
  stored.note = pixels.note = "The smallest, 10 %, the median (large), 90 %, 99 % and the largest.";
  return drawn(stored) + drawn(pixels);
}

std::string draw_drift(const Drift& drift) {
  if (drift.a.images == 0 || drift.b.images == 0) return "";
  page::Ranges stored, widths;
  stored.title = "How many bytes an image has";
  stored.rows = {make_range("A", drift.a.stored_bytes), make_range("B", drift.b.stored_bytes)};
  const auto most = std::max(drift.a.stored_bytes.most, drift.b.stored_bytes.most);
  stored.scale = page::linear_scale("bytes", page::Unit::bytes, 0, static_cast<double>(most));
  widths.title = "How wide images are";
  widths.rows = {make_range("A", drift.a.widths), make_range("B", drift.b.widths)};
  widths.scale =
      page::linear_scale("pixels", page::Unit::number, 0,
                         static_cast<double>(std::max(drift.a.widths.most, drift.b.widths.most)));
  stored.columns = widths.columns = kSizeNames;
  stored.note = widths.note = "The smallest, 10 %, the median (large), 90 %, 99 % and the largest.";
  return drawn(stored) + drawn(widths);
}

}  // namespace loaderscope::dataset
