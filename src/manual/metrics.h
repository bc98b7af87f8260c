// The metrics of a result as the manual shows them: the rows of metrics.def as text.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace loaderscope::manual {

struct MetricEntry {
  std::string_view name;  // metric::requests_sent; in capitals what is one of many: "gap.KIND_s"
  std::string_view what;  // sentence about the metric
  std::string basis;      // basis of its group: "Measured: ...", "Wrong when: ...", in lines

  bool is_of_many() const;
};

std::span<const MetricEntry> metric_entries();
const MetricEntry* metric_entry(std::string_view name);  // null where there is none

// The topic `metrics`; src/manual/metrics.md is a copy of it for the man pages.
const std::string& metrics_page();

}  // namespace loaderscope::manual
