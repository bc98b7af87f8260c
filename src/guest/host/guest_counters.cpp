#include "guest/host/guest_counters.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "guest/host/counter_table.h"

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMaxProcesses = 1024;  // processes that run at the same time

struct Sums {
  CounterValues trainers, workers, all;
};

CounterValue counter_value(const CounterValues& values, const CounterRow* row) {
  const auto found = values.find(row);
  return found == values.end() ? CounterValue{} : found->second;
}

double counter_sum(const CounterValues& values, std::string_view name) {
  return counter_value(values, find_counter(name)).sum;
}

// A program may report any numbers, also a count near 0.
std::optional<double> counter_average(const CounterValue& value) {
  if (value.count <= 0) return std::nullopt;
  const double average = value.sum / value.count;
  return std::isfinite(average) ? std::optional(average) : std::nullopt;
}

std::optional<double> divided(std::optional<double> sum, double divisor) {
  if (!sum || divisor <= 0) return std::nullopt;
  return *sum / divisor;
}

// The parts that at least two workers report, and no worker lacks. Each worker reports a part as 1.
std::map<std::string, double> common_parts(const CounterValue& worker_value) {
  std::map<std::string, double> common;
  if (worker_value.count <= 1) return common;
  for (const auto& [name, workers] : worker_value.parts)
    if (workers == worker_value.count) common.emplace(name, workers);
  return common;
}

// Returns the value of the metric, or nothing if it is left out.
std::optional<double> metric_value(const CounterRow& row, const Sums& sums,
                                   const CounterScale& scale) {
  const CounterValue value = counter_value(sums.all, &row);
  if (!row.needs.empty() && counter_sum(sums.all, row.needs) <= 0) return std::nullopt;
  switch (row.metric) {
    case CounterMetric::none:
      return std::nullopt;
    case CounterMetric::average: {
      const auto average = counter_average(value);
      if (!average || row.subtract.empty()) return average;
      const CounterValue other = counter_value(sums.all, find_counter(row.subtract));
      return std::max(0.0, *average - counter_average(other).value_or(0));
    }
    case CounterMetric::total:
      return value.count > 0 ? std::optional(value.sum) : std::nullopt;
    case CounterMetric::per_batch:
      return value.sum > 0 ? divided(value.sum, scale.batches) : std::nullopt;
    case CounterMetric::per_sample: {
      const CounterValues& makers = sums.workers.contains(&row) ? sums.workers : sums.trainers;
      return divided(counter_average(counter_value(makers, &row)), scale.samples_per_batch);
    }
    case CounterMetric::common: {
      const std::size_t common = common_parts(counter_value(sums.workers, &row)).size();
      return common > 0 ? std::optional(static_cast<double>(common)) : std::nullopt;
    }
  }
  return std::nullopt;
}

// Largest first.
std::vector<Detail> row_details(const CounterRow& row, const Sums& sums) {
  std::vector<Detail> details;
  double all = 0;
  const bool is_common = row.parts == CounterParts::common;
  for (const auto& [name, value] : is_common ? common_parts(counter_value(sums.workers, &row))
                                             : counter_value(sums.all, &row).parts) {
    all += value;
    details.push_back({std::string(row.name), name, value});
  }
  std::stable_sort(details.begin(), details.end(),
                   [](const Detail& a, const Detail& b) { return a.share > b.share; });
  details.resize(std::min(details.size(), row.max_details));
  const bool has_shares = row.parts == CounterParts::shares;
  for (Detail& detail : details) detail.share = has_shares ? detail.share / all : 0;
  return details;
}

Sums total_sums(const LastByProcess& trainers, const LastByProcess& workers) {
  Sums sums{trainers.sum(), workers.sum(), {}};
  sums.all = sums.trainers;
  add(sums.all, sums.workers);
  return sums;
}

}  // namespace

void LastByProcess::put(const ProcessId& process, CounterValues values) {
  if (last_.size() >= kMaxProcesses && !last_.contains(process)) fold_ended();
  if (last_.size() >= kMaxProcesses && !last_.contains(process)) return;
  CounterValues& last = last_[process];
  for (auto& [row, value] : values) last[row] = std::move(value);
}

CounterValues LastByProcess::sum() const {
  CounterValues sum = ended_sum_;
  for (const auto& [process, values] : last_) add(sum, values);
  return sum;
}

void LastByProcess::fold_ended() {
  for (auto one = last_.begin(); one != last_.end();) {
    const bool runs = is_running(one->first);
    if (!runs) add(ended_sum_, one->second);
    one = runs ? std::next(one) : last_.erase(one);
  }
}

void GuestCounters::put(const ProcessId& process, bool is_worker, CounterValues values) {
  (is_worker ? workers_ : trainers_).put(process, std::move(values));
}

void GuestCounters::name_code(const NamesByStage& names) {
  if (code_.empty()) code_ = names;
}

std::vector<Metric> GuestCounters::metrics(const CounterScale& scale) const {
  const Sums sums = total_sums(trainers_, workers_);
  std::vector<Metric> metrics;
  for (const CounterRow& row : counter_rows()) {
    const auto value = metric_value(row, sums, scale);
    if (!value) continue;
    metrics.push_back(make_metric(std::string(row.name), row.text, *value));
    metrics.back().is_exact = row.metric == CounterMetric::per_sample;
  }
  return metrics;
}

std::vector<Detail> GuestCounters::details() const {
  const Sums sums = total_sums(trainers_, workers_);
  std::vector<Detail> details;
  for (const auto& [stage, name] : code_) {
    if (!counter_value(sums.all, find_counter(stage)).parts.contains(name))
      details.push_back({stage, name});
  }
  for (const CounterRow& row : counter_rows()) {
    for (Detail& detail : row_details(row, sums)) details.push_back(std::move(detail));
  }
  return details;
}

}  // namespace loaderscope::guest
