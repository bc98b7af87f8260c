#include "monitor/live_metric.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/printable.h"
#include "base/utf8.h"

namespace loaderscope::monitor {
namespace {

constexpr LiveMetricRow kLiveMetrics[] = {
#define LOADERSCOPE_LIVE_METRIC(id, name, type, unit, labels, sentence) \
  {name, LiveType::type, LiveUnit::unit, labels, sentence},
#include "monitor/live_metrics.def"
#undef LOADERSCOPE_LIVE_METRIC
};

const LiveMetricRow& get_row(LiveMetric metric) {
  return kLiveMetrics[static_cast<std::size_t>(metric)];
}

}  // namespace

std::span<const LiveMetricRow> live_metric_table() { return kLiveMetrics; }

std::string_view name_of(LiveType type) {
  constexpr std::string_view kNames[] = {"gauge", "counter", "info", "stateset"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view name_of(LiveUnit unit) {
  constexpr std::string_view kNames[] = {"", "seconds", "bytes", "ratio", "cores"};
  return kNames[static_cast<std::size_t>(unit)];
}

std::string family_name(const LiveMetricRow& row) {
  std::string name = "loaderscope_" + std::string(row.name);
  if (row.unit != LiveUnit::none) name += "_" + std::string(name_of(row.unit));
  return name;
}

std::string sample_name(const LiveMetricRow& row) {
  std::string name = family_name(row);
  if (row.type == LiveType::counter) name += "_total";
  if (row.type == LiveType::info) name += "_info";
  return name;
}

std::string label_text(std::string_view text) {
  constexpr std::size_t kMax = 120;
  return valid_utf8(printable(text).substr(0, kMax));
}

void LiveSamples::add(LiveMetric metric, double value, const LiveLabels& labels) {
  if (!std::isfinite(value)) return;
  LiveSample sample{metric, job_labels_, value};
  sample.labels.insert(sample.labels.end(), labels.begin(), labels.end());
  samples_.push_back(std::move(sample));
}

void LiveSamples::add_states(LiveMetric metric, std::span<const std::string_view> states,
                             std::string_view current) {
  const std::string label = family_name(get_row(metric));
  for (const std::string_view state : states)
    add(metric, state == current ? 1 : 0, {{label, std::string(state)}});
}

LiveBoard::LiveBoard()
    : started_(std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
                   .count()) {}

void LiveBoard::set(std::int64_t job, LiveSamples samples) {
  const std::lock_guard lock(mutex_);
  jobs_.insert_or_assign(job, std::move(samples));
}

void LiveBoard::remove(std::int64_t job) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(job);
}

std::vector<LiveSample> LiveBoard::samples() const {
  std::vector<LiveSample> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [job, samples] : jobs_)
      all.insert(all.end(), samples.all().begin(), samples.all().end());
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const LiveSample& a, const LiveSample& b) { return a.metric < b.metric; });
  return all;
}

}  // namespace loaderscope::monitor
