#include <cmath>

#include "loaderscope/run_record.h"

namespace loaderscope {

std::optional<double> value_of(const std::vector<Metric>& metrics, std::string_view name) {
  for (const Metric& metric : metrics) {
    if (metric.name == name && std::isfinite(metric.value)) return metric.value;
  }
  return std::nullopt;
}

}  // namespace loaderscope
