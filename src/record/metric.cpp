#include <cmath>
#include <stdexcept>
#include <utility>

#include "loaderscope/run_record.h"

namespace loaderscope {

Metric make_metric(std::string name, std::string help, double value) {
  const MetricRow* row = find_metric(name);
  if (row == nullptr) throw std::logic_error("metrics.def has no row for '" + name + "'");
  return {std::move(name), std::string(row->unit), std::move(help), value, false, row->join};
}

std::optional<double> value_of(const std::vector<Metric>& metrics, std::string_view name) {
  for (const Metric& metric : metrics) {
    if (metric.name == name && std::isfinite(metric.value)) return metric.value;
  }
  return std::nullopt;
}

}  // namespace loaderscope
