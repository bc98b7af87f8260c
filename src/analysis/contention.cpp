#include "analysis/contention.h"

namespace loaderscope {

std::optional<double> contention_of_others(const RunRecord& record) {
  const auto others = value_of(record.metrics, "host.other_cpu_s");
  const auto own = value_of(record.metrics, "process.cpu_s");
  if (!others || !own || *others + *own <= 0) return std::nullopt;
  return *others / (*others + *own);
}

}  // namespace loaderscope
