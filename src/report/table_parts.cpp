// Parts around the account: reasons for late batches, the first batch, queues, metrics.
#include "report/table_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "report/text_table.h"

namespace loaderscope {

std::string metric_value(const Metric& metric) {
  if (!std::isfinite(metric.value)) return "not known";
  if (metric.unit == "bytes") return format_size(metric.value);
  if (metric.unit == "bytes/s") {
    const std::string rate = format_byte_rate(std::abs(metric.value));
    return metric.value < 0 ? "-" + rate : rate;
  }
  const bool fits = std::abs(metric.value) < 9e9;  // no overflow in ns
  if (metric.unit == "s" && fits) return format_duration(std::llround(metric.value * 1e9));
  if (metric.unit == "1") return fmt::format("{:g}", metric.value);
  if (metric.unit.starts_with("1/"))
    return fmt::format("{:g}{}", metric.value, metric.unit.substr(1));
  return fmt::format("{:g} {}", metric.value, metric.unit);
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
  std::string text =
      std::string(kWhyLineBegin) + format_percent(window_share(sum, account)) + " of the time: ";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double share = static_cast<double>(parts[i].first) / static_cast<double>(sum);
    text += fmt::format("{}{} {}{}", i == 0 ? "" : ", ", parts[i].second, format_percent(share),
                        i == 0 ? " of that" : "");
  }
  return text;
}

std::string first_batch_line(const Analysis& analysis) {
  if (analysis.first_batch_wall <= 0) return "";
  std::string text = "first batch after " + format_duration(analysis.first_batch_wall);
  auto causes = analysis.first_batch_by_cause;
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string separator = ": ";
  for (const auto& [name, ns] : causes) {
    text += fmt::format("{}{} {}", separator, shown_name(name), format_duration(ns));
    separator = ", ";
  }
  return text;
}

std::vector<std::string> queue_lines(const RunRecord& record) {
  std::vector<std::string> lines;
  for (const QueueStats& queue : job_queues(record)) {
    std::string line = fmt::format("queue {}: {:.1f}", queue.name, queue.mean_occupancy);
    if (queue.capacity > 0) line += fmt::format(" of {}", format_count(queue.capacity));
    line += fmt::format(" on average, at most {}", format_count(queue.max_occupancy));
    if (queue.get_wait > 0)
      line += fmt::format("; takers waited {}", format_duration(queue.get_wait));
    if (queue.put_wait > 0)
      line += fmt::format("; givers waited {}", format_duration(queue.put_wait));
    lines.push_back(std::move(line));
  }
  return lines;
}

TextTable metric_table(const RunRecord& record) {
  TextTable table("lrw");
  for (const Metric& metric : record.metrics)
    table.add({metric.name, metric_value(metric), metric.help});
  return table;
}

}  // namespace loaderscope
