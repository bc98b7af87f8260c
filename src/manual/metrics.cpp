#include "manual/metrics.h"

#include <algorithm>
#include <vector>

#include "loaderscope/vocabulary.h"

namespace loaderscope::manual {
namespace {

constexpr std::size_t kColumns = 100;

constexpr std::string_view kPageBegin =
    R"(# Metrics

The metrics of a result: what each is, how it is measured, and when it is wrong.

`-vv` prints the metrics of a run, the JSON has them as `GROUP.NAME`, and `--require` accepts them.
No run has all of them. `loaderscope explain GROUP.NAME` shows one with its group, and its value in
the last run.

After a name is its unit, unless it is a number or a share. The next word says how a job gets its
value: the mean of its processes and hosts, their sum, or the sum of the processes of a machine. The
word `same` means that all have the same value. A value that differs is left out.
)";

// Breaks the text into lines of at most kColumns. All lines but the first begin with `indent`.
std::string wrap_lines(std::string_view text, std::string_view indent) {
  std::string lines;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column > 0 && column + 1 + word.size() > kColumns) {
      lines.append("\n").append(indent);
      column = indent.size();
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

std::string_view join_words(MetricJoin join) {
  switch (join) {
    case MetricJoin::mean:
      return "mean";
    case MetricJoin::sum_of_machine:
      return "sum of a machine";
    case MetricJoin::sum:
      return "sum";
    case MetricJoin::same:
      return "same";
  }
  return "";
}

std::string basis_lines(const MetricRow& row) {
  return wrap_lines("Measured: " + std::string(row.basis), "") + "\n" +
         wrap_lines("Wrong when: " + std::string(row.misleads), "");
}

std::string row_of_page(const MetricRow& row) {
  const std::string unit = row.unit == "1" ? "" : std::string(row.unit) + ", ";
  return wrap_lines("- `" + std::string(row.name) + "` (" + unit +
                        std::string(join_words(row.join)) + "): " + std::string(row.sentence),
                    "  ");
}

}  // namespace

bool MetricEntry::is_of_many() const {
  const MetricRow* row = find_metric(name);
  return row != nullptr && row->is_pattern();
}

std::span<const MetricEntry> metric_entries() {
  static const std::vector<MetricEntry> entries = [] {
    std::vector<MetricEntry> all;
    for (const MetricRow& row : metric_table())
      all.push_back({row.name, row.sentence, basis_lines(row)});
    return all;
  }();
  return entries;
}

const MetricEntry* metric_entry(std::string_view name) {
  const MetricRow* row = find_metric(name);
  return row == nullptr ? nullptr
                        : &metric_entries()[static_cast<std::size_t>(row - metric_table().data())];
}

const std::string& metrics_page() {
  static const std::string page = [] {
    std::string text(kPageBegin);
    std::string_view group;
    for (const MetricRow& row : metric_table()) {
      const std::string_view name = row.name.substr(0, row.name.find('.'));
      if (name != group) text += "\n### " + std::string(name) + "\n\n" + basis_lines(row) + "\n\n";
      group = name;
      text += row_of_page(row) + "\n";
    }
    return text;
  }();
  return page;
}

}  // namespace loaderscope::manual
