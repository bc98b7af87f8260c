// The counters that guests report, and the metrics and details of the record that they become. A
// new counter is one row here, and one call of `counters.put` or `counters.add` in the Python
// package.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace loaderscope::guest {

// The rule by which the values of all processes become the value of a metric.
enum class CounterMetric : std::uint8_t {
  none,        // details only
  average,     // the sum divided by the number of things that it is the sum of
  total,       // the sum, which adds up over the parts of a job
  per_batch,   // the sum divided by the batches that all trainers took
  per_sample,  // the average of a batch divided by its samples; of workers if they report it
  common,      // the number of parts that every worker reports
};

// The parts of a counter that become details.
enum class CounterParts : std::uint8_t {
  none,
  shares,  // the largest parts of all processes, with their shares of the sum
  names,   // the names of the first process that reports some, the largest part first
  common,  // the names that every worker reports
};

struct CounterRow {
  std::string_view name;  // name of the counter, of its metric (metrics.def) and of its details
  CounterMetric metric = CounterMetric::average;
  const char* text = "";
  std::string_view needs = {};     // a row; the metric is left out unless its sum is positive
  std::string_view subtract = {};  // a row; its average is subtracted, down to 0
  CounterParts parts = CounterParts::none;
  std::size_t max_details = 0;
  bool is_signed = false;  // a difference of clocks, which can be below 0; other sums cannot
};

std::span<const CounterRow> counter_rows();
const CounterRow* find_counter(std::string_view name);  // null: no such row

}  // namespace loaderscope::guest
