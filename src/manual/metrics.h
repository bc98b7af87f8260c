// What the metrics of a result are and rest on: the rows of metrics.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope::manual {

// Below "### GROUP" the paragraph "Rests on: ..." with "Wrong when: ...", then a row each metric.
struct MetricEntry {
  std::string_view name;   // "requests.sent"; in capitals what is one of many: "gap.KIND_s"
  std::string what;        // on one line
  std::string_view basis;  // of its group: the paragraph, as it is broken in the file

  bool is_of_many() const;
};

std::span<const MetricEntry> metric_entries();
const MetricEntry* metric_entry(std::string_view name);  // null where there is none

}  // namespace loaderscope::manual
