// The decoders of the images, if a GPU was to decode them.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "analysis/wording.h"
#include "report/table_parts.h"

namespace loaderscope {
namespace {

constexpr std::string_view kRefusedImages = "decode.refused_";

double metric_value(const RunRecord& record, std::string_view name) {
  for (const Metric& metric : record.metrics)
    if (metric.name == name) return metric.value;
  return 0;
}

// " (progressive 12, cmyk 3)"
std::string refusal_words(const RunRecord& record) {
  std::vector<const Metric*> refused;
  for (const Metric& metric : record.metrics)
    if (metric.name.starts_with(kRefusedImages)) refused.push_back(&metric);
  if (refused.empty()) return "";
  std::stable_sort(refused.begin(), refused.end(),
                   [](const Metric* a, const Metric* b) { return a->value > b->value; });
  std::vector<std::string> words;
  for (const Metric* metric : refused)
    words.push_back(fmt::format("{} {}", metric->name.substr(kRefusedImages.size()),
                                format_count(static_cast<std::int64_t>(metric->value))));
  return fmt::format(" ({})", fmt::join(words, ", "));
}

}  // namespace

std::string decoding_line(const RunRecord& record) {
  const double engines = metric_value(record, metric::decode_by_engines);
  const double cuda = metric_value(record, metric::decode_by_cuda);
  const double cpu = metric_value(record, metric::decode_by_cpu);
  const double all = engines + cuda + cpu;
  if (all <= 0) return "";
  std::vector<std::string> parts;
  if (engines > 0)
    parts.push_back((record.simulated ? "simulated GPU " : "JPEG engines ") +
                    format_percent(engines / all));
  if (cuda > 0) parts.push_back("CUDA kernels " + format_percent(cuda / all));
  if (cpu > 0) parts.push_back("CPU " + format_percent(cpu / all) + refusal_words(record));
  return fmt::format("Images decoded by: {}", fmt::join(parts, ", "));
}

}  // namespace loaderscope
