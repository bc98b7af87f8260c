#include <algorithm>

#include "loaderscope/vocabulary.h"

namespace loaderscope {
namespace {

struct MetricGroup {
  std::string_view name, basis, misleads;
};

constexpr MetricGroup kMetricGroups[] = {
#define LOADERSCOPE_METRIC_GROUP(group, basis, misleads) {#group, basis, misleads},
#define LOADERSCOPE_METRIC(id, name, unit, join, sentence)
#define LOADERSCOPE_METRIC_PATTERN(name, unit, join, sentence)
#include "loaderscope/metrics.def"
#undef LOADERSCOPE_METRIC_GROUP
#undef LOADERSCOPE_METRIC
#undef LOADERSCOPE_METRIC_PATTERN
};

// Returns a row with the texts of its group.
constexpr MetricRow metric_row(std::string_view name, std::string_view unit, MetricJoin join,
                               std::string_view sentence) {
  const std::string_view group_name = name.substr(0, name.find('.'));
  for (const MetricGroup& group : kMetricGroups) {
    if (group.name == group_name) return {name, unit, join, sentence, group.basis, group.misleads};
  }
  return {name, unit, join, sentence, "", ""};
}

constexpr MetricRow kMetrics[] = {
#define LOADERSCOPE_METRIC_GROUP(group, basis, misleads)
#define LOADERSCOPE_METRIC(id, name, unit, join, sentence) \
  metric_row(name, unit, MetricJoin::join, sentence),
#define LOADERSCOPE_METRIC_PATTERN(name, unit, join, sentence) \
  metric_row(name, unit, MetricJoin::join, sentence),
#include "loaderscope/metrics.def"
#undef LOADERSCOPE_METRIC_GROUP
#undef LOADERSCOPE_METRIC
#undef LOADERSCOPE_METRIC_PATTERN
};

constexpr bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

bool fits(std::string_view pattern, std::string_view name) {
  const auto begin = std::find_if(pattern.begin(), pattern.end(), is_capital);
  const auto end = std::find_if_not(begin, pattern.end(), is_capital);
  const std::string_view head(pattern.begin(), begin), tail(end, pattern.end());
  return name.size() > head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

}  // namespace

bool MetricRow::is_pattern() const { return std::any_of(name.begin(), name.end(), is_capital); }

std::span<const MetricRow> metric_table() { return kMetrics; }

const MetricRow* find_metric(std::string_view name) {
  const MetricRow* found = nullptr;
  for (const MetricRow& row : kMetrics) {
    if (row.name == name) return &row;
    const bool is_longer = found == nullptr || row.name.size() > found->name.size();
    if (is_longer && row.is_pattern() && fits(row.name, name)) found = &row;
  }
  return found;
}

}  // namespace loaderscope
