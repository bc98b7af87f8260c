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

// A mean over ranks says nothing about ranks that differ.
std::string draw_tiles(const RunRecord& record, const Analysis& analysis) {
  std::vector<page::Tile> tiles;
  if (analysis.has_busy && !slow_rank(record, analysis))
    tiles.push_back({"busy",
                     format_percent(busy_share(analysis.account)),
                     {busy_share(analysis.account), "device.busy"}});
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

// A part of the large bar, which links to its worst stall if `pictures` have it.
page::Part account_part(const AccountLine& line, page::Figure figure, const std::string& pictures) {
  const auto cause = value_of<Cause>(line.name);
  const std::string place = cause ? place_of_stall(*cause) : "";
  const bool is_drawn = cause && pictures.find("id=\"" + place + "\"") != pictures.npos;
  return {line.label,
          line.name,
          line.share,
          fmt::format("{}, {}", format_duration(line.per_step), format_percent(line.share)),
          std::move(figure),
          line.remark,
          is_drawn ? place : ""};
}

// Joins the parts that hardly show, which come last.
void join_small_parts(std::vector<page::Part>& parts) {
  constexpr std::size_t kAlwaysShown = 4;
  constexpr double kSmall = 0.01;
  std::size_t first = parts.size();
  while (first > kAlwaysShown && parts[first - 1].size < kSmall) --first;
  if (parts.size() - first < 2) return;
  page::Part others{fmt::format("{} others", parts.size() - first), "other", 0, ""};
  for (std::size_t i = first; i < parts.size(); ++i) {
    others.size += parts[i].size;
    others.remark += (others.remark.empty() ? "" : ", ") + parts[i].name;
  }
  others.text = format_percent(others.size);
  parts.resize(first);
  parts.push_back(std::move(others));
}

// Returns the account of one rank: compute first, then the causes by their size.
std::vector<AccountLine> lines_of_rank(const RankRecord& rank, const Account& account,
                                       bool has_busy) {
  std::vector<AccountLine> lines;
  const auto add = [&](std::string_view name, Nanos part) {
    const Nanos per_step = part / std::max<std::int64_t>(1, rank.steps());
    if (part > 0)
      lines.push_back({std::string(name),
                       std::string(shown_name(name)),
                       per_step,
                       window_share(part, account),
                       {},
                       ""});
  };
  for (const auto& word : Words<Cause>::table()) add(word.name, account.stall[word.value]);
  std::stable_sort(lines.begin(), lines.end(),
                   [](const AccountLine& a, const AccountLine& b) { return a.share > b.share; });
  std::vector<AccountLine> causes = std::move(lines);
  lines.clear();
  if (has_busy) add("compute", account.compute);
  lines.insert(lines.end(), causes.begin(), causes.end());
  return lines;
}

std::string draw_account(const RunRecord& record, const Analysis& analysis,
                         const std::string& pictures) {
  page::Bars bars;
  bars.title = analysis.has_busy ? "Where the time of a step goes" : "What the trainer waits for";
  bars.note = "Time of a step, and its share. All but compute is waiting, by its cause.";
  bars.is_large = true;
  page::Bar bar;
  const std::optional<std::size_t> slow = slow_rank(record, analysis);
  if (slow) {
    bars.title += fmt::format(": rank {}", *slow);
    for (const AccountLine& line :
         lines_of_rank(record.ranks[*slow], analysis.rank_accounts[*slow], analysis.has_busy))
      bar.parts.push_back(account_part(line, {}, pictures));
  } else {
    for (const AccountLine& line : account_lines(record, analysis)) {
      const auto cause = value_of<Cause>(line.name);
      const Nanos sum = line.name == "compute" ? analysis.account.compute
                        : cause                ? analysis.account.stall[*cause]
                                               : 0;
      const std::string path = cause ? "account.stall_s." + line.name : "account.compute_s";
      bar.parts.push_back(account_part(line, {seconds(sum), path}, pictures));
    }
  }
  join_small_parts(bar.parts);
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
      "Large: the median; then 90 %, 99 %, 99.9 % and the longest. The axis is logarithmic.";
  const auto mean_text = [](std::int64_t count, Nanos mean) {
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
                                    mean_text(stats.count, stats.wall / stats.count)));
  }
  double least = 1e9, most = 0;
  for (const page::Range& row : ranges.rows) {
    least = std::min(least, row.at.front());
    most = std::max(most, row.at.back());
  }
  ranges.scale = page::logarithmic_scale("", page::Unit::seconds, least, most);
  return drawn(ranges);
}

}  // namespace

std::string draw_run_in_short(const RunRecord& record, const Analysis& analysis,
                              const std::string& pictures) {
  if (analysis.steps == 0 || record.ranks.empty()) return "";
  if (const std::string hosts = draw_hosts(record, analysis); !hosts.empty()) return hosts;
  if (const std::string ranks = draw_ranks(record, analysis); !ranks.empty()) return ranks;
  return draw_account(record, analysis, pictures);
}

std::string draw_run(const RunRecord& record, const Analysis& analysis) {
  if (analysis.steps == 0 || record.ranks.empty()) return "";
  const std::size_t rank = slow_rank(record, analysis).value_or(0);
  const std::string exemplars = draw_exemplars(record, rank);
  std::string text = draw_tiles(record, analysis);
  if (record.ranks.size() > 1) text += draw_account(record, analysis, exemplars);
  return text + draw_step_times(record, rank) + draw_ready(record, rank) +
         draw_latencies(record, analysis) + exemplars;
}

}  // namespace loaderscope
