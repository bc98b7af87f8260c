#include "report/table_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

// "RandomCrop 62.0 %": what most of the stage's time goes into, as the program calls it.
std::string code_words(const RunRecord& record, std::string_view stage) {
  for (const Detail& detail : record.details) {
    if (detail.about != stage) continue;
    return detail.share > 0 ? detail.text + " " + show_percent(detail.share) : detail.text;
  }
  return "";
}

std::string remark_on(Cause cause, const RunRecord& record, const Account& account,
                      std::int64_t steps) {
  if (cause == Cause::launch && account.not_asking > 0) {
    return fmt::format("{} of it not asking for a batch that is ready",
                       show_duration(account.not_asking / steps));
  }
  if (cause == Cause::contention) return "runnable, and no core free";
  if (cause == Cause::other) return "no known cause";
  return code_words(record, name_of(cause));
}

std::string share_text(Nanos part, Nanos whole) {
  if (whole <= 0) return "";
  return fmt::format("{:.0f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string rate_text(const StageStats& stats) {
  if (stats.bytes == 0 || stats.wall == 0) return "";
  return show_byte_rate(static_cast<double>(stats.bytes) / seconds(stats.wall));
}

// Where a thread of the host spent the time of the stage.
bool has_thread(Stage stage) {
  return stage != Stage::compute && stage != Stage::gpu_augment && stage != Stage::idle;
}

std::vector<std::string> stage_cells(Stage stage, const StageStats& stats) {
  const Histogram& times = stats.wall_histogram;
  const bool thread = has_thread(stage);
  return {std::string(name_of(stage)),
          show_count(stats.count),
          show_duration(stats.wall / stats.count),
          show_duration(times.quantile(0.5)),
          show_duration(times.quantile(0.99)),
          show_duration(times.max()),
          thread ? share_text(stats.cpu, stats.wall) : "",
          thread && stats.queued > 0 ? share_text(stats.queued, stats.wall) : "",
          thread && stats.blocked() > 0 ? share_text(stats.blocked(), stats.wall) : "",
          rate_text(stats)};
}

std::string metric_value(const Metric& metric) {
  if (!std::isfinite(metric.value)) return "not known";
  if (metric.unit == "bytes") return show_size(metric.value);
  if (metric.unit == "bytes/s") {
    const std::string rate = show_byte_rate(std::abs(metric.value));
    return metric.value < 0 ? "-" + rate : rate;
  }
  const bool fits = std::abs(metric.value) < 9e9;  // in ns
  if (metric.unit == "s" && fits) return show_duration(std::llround(metric.value * 1e9));
  if (metric.unit == "1") return fmt::format("{:g}", metric.value);
  if (metric.unit.starts_with("1/"))
    return fmt::format("{:g}{}", metric.value, metric.unit.substr(1));
  return fmt::format("{:g} {}", metric.value, metric.unit);
}

}  // namespace

std::vector<AccountLine> account_lines(const RunRecord& record, const Analysis& analysis) {
  const Account& account = analysis.account;
  const std::int64_t steps = std::max<std::int64_t>(1, analysis.steps);
  std::vector<AccountLine> lines;
  for (const auto& word : Words<Cause>::table()) {
    const Nanos ns = account.stall[word.value];
    if (ns == 0) continue;
    lines.push_back({std::string(word.name), ns / steps, share_of(ns, account),
                     analysis.share[word.value].half_width(),
                     remark_on(word.value, record, account, steps)});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const AccountLine& a, const AccountLine& b) {
    const bool a_other = a.name == "other", b_other = b.name == "other";
    return a_other != b_other ? b_other : a.share > b.share;
  });
  if (analysis.has_busy) {
    lines.insert(lines.begin(), {"compute", account.compute / steps, busy_of(account),
                                 analysis.busy.half_width(), ""});
  }
  return lines;
}

void write_stage_table(std::ostream& out, const RunRecord& record) {
  const PerStage<StageStats> stages = job_stages(record);
  TextTable table("lrrrrrrrrr", {"stage", "count", "mean", "p50", "p99", "max", "CPU", "no core",
                                 "blocked", "rate"});
  for (const auto& word : Words<Stage>::table()) {
    if (stages[word.value].count == 0) continue;
    table.add(stage_cells(word.value, stages[word.value]));
  }
  if (!table.empty()) table.print(out);
}

std::string why_line(const Account& account) {
  const Nanos sum = std::accumulate(account.why.begin(), account.why.end(), Nanos{0});
  if (sum == 0) return "";
  std::vector<std::pair<Nanos, std::string_view>> parts;
  for (const auto& word : Words<Why>::table()) {
    if (account.why[word.value] > 0) parts.emplace_back(account.why[word.value], word.name);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = "why: ";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double share = static_cast<double>(parts[i].first) / static_cast<double>(sum);
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", parts[i].second, show_percent(share));
  }
  return text + fmt::format(" of the {} spent waiting for batches to be made",
                            show_percent(share_of(sum, account)));
}

std::string first_batch_line(const Analysis& analysis) {
  if (analysis.first_batch_wall <= 0) return "";
  std::string text = "first batch after " + show_duration(analysis.first_batch_wall);
  auto causes = analysis.first_batch_by_cause;
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string separator = ": ";
  for (const auto& [name, ns] : causes) {
    text += fmt::format("{}{} {}", separator, name, show_duration(ns));
    separator = ", ";
  }
  return text;
}

std::vector<std::string> queue_lines(const RunRecord& record) {
  std::vector<std::string> lines;
  for (const QueueStats& queue : job_queues(record)) {
    std::string line = fmt::format("queue {}: {:.1f}", queue.name, queue.mean_occupancy);
    if (queue.capacity > 0) line += fmt::format(" of {}", show_count(queue.capacity));
    line += fmt::format(" on average, at most {}", show_count(queue.max_occupancy));
    if (queue.get_wait > 0)
      line += fmt::format("; takers waited {}", show_duration(queue.get_wait));
    if (queue.put_wait > 0)
      line += fmt::format("; givers waited {}", show_duration(queue.put_wait));
    lines.push_back(std::move(line));
  }
  return lines;
}

void write_metrics(std::ostream& out, const RunRecord& record, int width) {
  TextTable table("lrl");
  std::size_t longest = 0;  // explanation
  for (const Metric& metric : record.metrics) {
    table.add({metric.name, metric_value(metric), metric.help});
    longest = std::max(longest, columns_of(printable(metric.help)));
  }
  std::stringstream lines;
  table.print(lines);
  const auto indent = static_cast<int>(table.columns() - longest);
  for (std::string line; std::getline(lines, line);)
    out << "  " << wrapped(line.substr(2), width - 2, indent) << '\n';
}

}  // namespace loaderscope
