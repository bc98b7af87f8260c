#include "manual/metrics.h"

#include <algorithm>

#include "manual/topics.h"

namespace loaderscope::manual {
namespace {

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

// Between backquotes: "- `a`, `b`: both" names two.
std::vector<std::string_view> names_in(std::string_view names) {
  std::vector<std::string_view> found;
  for (auto at = names.find('`'); at != names.npos; at = names.find('`', at + 1)) {
    const std::size_t end = names.find('`', at + 1);
    if (end == names.npos) break;
    found.push_back(names.substr(at + 1, end - at - 1));
    at = end;
  }
  return found;
}

// Rows go over lines that begin with two spaces.
std::vector<MetricEntry> metrics_in(std::string_view text) {
  std::vector<MetricEntry> entries;
  std::string_view basis;
  std::size_t row = 0;  // entries of the row that is being read
  while (!text.empty()) {
    const std::string_view before = text;
    const std::string_view line = take_line(text);
    if (line.starts_with("Rests on: ")) basis = before.substr(0, before.find("\n\n"));
    if (line.starts_with("- `")) {
      const std::size_t colon = line.find("`: ");
      if (colon == line.npos) continue;
      const std::vector<std::string_view> names = names_in(line.substr(0, colon + 1));
      row = names.size();
      for (const std::string_view name : names)
        entries.push_back({name, std::string(line.substr(colon + 3)), basis});
    } else if (line.starts_with("  ") && row > 0) {
      for (MetricEntry& entry : std::span(entries).last(row)) entry.what.append(line.substr(1));
    } else {
      row = 0;
    }
  }
  return entries;
}

// Where `pattern` has capitals, `name` may have anything.
bool fits(std::string_view pattern, std::string_view name) {
  const auto begin = std::find_if(pattern.begin(), pattern.end(), is_capital);
  if (begin == pattern.end()) return pattern == name;
  const auto end = std::find_if_not(begin, pattern.end(), is_capital);
  const std::string_view head(pattern.begin(), begin), tail(end, pattern.end());
  return name.size() > head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

}  // namespace

bool MetricEntry::is_of_many() const { return std::any_of(name.begin(), name.end(), is_capital); }

std::span<const MetricEntry> metric_entries() {
  static const std::vector<MetricEntry> entries = [] {
    const std::span<const Topic> topics = topic_table();
    const auto metrics = std::find_if(topics.begin(), topics.end(), [](const Topic& topic) {
      return topic.row.name == "metrics";
    });
    return metrics == topics.end() ? std::vector<MetricEntry>() : metrics_in(metrics->text);
  }();
  return entries;
}

// Of several that fit, the one that says most of the name.
const MetricEntry* metric_entry(std::string_view name) {
  const MetricEntry* found = nullptr;
  for (const MetricEntry& entry : metric_entries()) {
    if (entry.name == name) return &entry;
    if (fits(entry.name, name) && (found == nullptr || entry.name.size() > found->name.size()))
      found = &entry;
  }
  return found;
}

}  // namespace loaderscope::manual
