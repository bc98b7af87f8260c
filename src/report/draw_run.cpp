// Pictures of a run: its account, its steps, its latencies, and a few steps in detail.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "page/charts.h"
#include "report/draw_steps.h"
#include "report/table_parts.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

std::string draw_tiles(const Analysis& analysis) {
  std::vector<page::Tile> tiles;
  if (analysis.has_busy)
    tiles.push_back({"busy",
                     format_percent(busy_of(analysis.account)),
                     {busy_of(analysis.account), "device.busy"}});
  if (analysis.samples > 0)
    tiles.push_back({"samples per second",
                     format_rate(analysis.samples_per_s.mean),
                     {analysis.samples_per_s.mean, "throughput.samples_per_s.mean"}});
  tiles.push_back({"measured",
                   format_duration(analysis.account.window),
                   {seconds(analysis.account.window), "window.wall_s"}});
  if (analysis.first_batch_wall > 0)
    tiles.push_back({"first batch after",
                     format_duration(analysis.first_batch_wall),
                     {seconds(analysis.first_batch_wall), "first_batch.wall_s"}});
  return drawn(tiles);
}

// `stalls`: the pictures of some, which causes link to.
std::string draw_account(const RunRecord& record, const Analysis& analysis,
                         const std::string& stalls) {
  page::Bars bars;
  bars.title = analysis.has_busy ? "Where the time of a step goes" : "What the trainer waits for";
  bars.note = "Per step and as a share of the time: computing, and by cause what was waited for.";
  page::Bar bar;
  for (const AccountLine& line : account_lines(record, analysis)) {
    const bool computes = line.name == "compute";
    const auto cause = value_of<Cause>(line.name);
    const Nanos sum = computes ? analysis.account.compute
                      : cause  ? analysis.account.stall[*cause]
                               : 0;
    const std::string place = cause ? place_of_stall(*cause) : "";
    const bool is_drawn = cause && stalls.find("id=\"" + place + "\"") != stalls.npos;
    bar.parts.push_back(
        {line.name,
         line.name,
         line.share,
         fmt::format("{}, {}", format_duration(line.per_step), format_percent(line.share)),
         {seconds(sum), computes ? "account.compute_s" : "account.stall_s." + line.name},
         line.remark,
         is_drawn ? place : ""});
  }
  bars.bars.push_back(std::move(bar));
  return drawn(bars);
}

page::Range latencies(std::string label, std::string kind, const Histogram& times,
                      const std::string& text) {
  page::Range range{std::move(label), std::move(kind), {}, 0, text};
  for (const double q : {0.5, 0.9, 0.99, 0.999})
    range.at.push_back(seconds(std::max<Nanos>(1, times.quantile(q))));
  range.at.push_back(std::max(range.at.back(), seconds(times.max())));
  return range;
}

std::string draw_latencies(const RunRecord& record, const Analysis& analysis) {
  page::Ranges ranges;
  ranges.title = "How long things took";
  ranges.columns = {"median", "90 %", "99 %", "99.9 %", "longest"};
  ranges.note =
      "Large: the median; then 90 %, 99 %, 99.9 % and the longest. Both ends of the axis "
      "are far apart: it is logarithmic.";
  const auto text_of = [](std::int64_t count, Nanos mean) {
    return fmt::format("{} x, mean {}", format_count(count), format_duration(mean));
  };
  if (analysis.step_time.count() > 0)
    ranges.rows.push_back(latencies("a step", "soft", analysis.step_time,
                                    fmt::format("{} x", format_count(analysis.step_time.count()))));
  const PerStage<StageStats> stages = job_stages(record);
  for (const auto& word : Words<Stage>::table()) {
    const StageStats& stats = stages[word.value];
    if (stats.count == 0) continue;
    ranges.rows.push_back(latencies(std::string(word.name), std::string(word.name),
                                    stats.wall_histogram,
                                    text_of(stats.count, stats.wall / stats.count)));
  }
  double least = 1e9, most = 0;
  for (const page::Range& row : ranges.rows) {
    least = std::min(least, row.at.front());
    most = std::max(most, row.at.back());
  }
  ranges.scale = page::logarithmic_scale_of("", page::Unit::seconds, least, most);
  return drawn(ranges);
}

}  // namespace

std::string draw_run(const RunRecord& record, const Analysis& analysis) {
  if (analysis.steps == 0) return "";
  const std::string exemplars = draw_exemplars(record);
  return draw_tiles(analysis) + draw_account(record, analysis, exemplars) +
         draw_hosts(record, analysis) + draw_step_times(record) + draw_ready(record) +
         draw_latencies(record, analysis) + exemplars;
}

}  // namespace loaderscope
