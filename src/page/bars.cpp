#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "page/escape.h"
#include "page/markup.h"

namespace loaderscope::page {
namespace {

constexpr int kBarHeight = 20, kLargeBarHeight = 44;

double length_of(const Bar& bar) {
  return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0,
                         [](double sum, const Part& part) { return sum + part.size; });
}

std::string drawn_bar(const Bar& bar, double longest, int height) {
  std::string text;
  double at = 0;
  for (const Part& part : bar.parts) {
    if (part.size <= 0) continue;
    text += fmt::format(
        "<rect class=\"k-{}\" x=\"{}\" width=\"{}\" height=\"{}\"><title>{}: "
        "{}</title></rect>\n",
        in_xml(part.kind), percent(at / longest), percent(part.size / longest), height,
        in_xml(part.name), in_xml(part.text));
    at += part.size;
  }
  return text;
}

bool knows(const std::vector<LegendEntry>& entries, const std::string& name) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const LegendEntry& entry) { return entry.name == name; });
}

}  // namespace

std::string drawn(const Bars& bars) {
  double longest = 0;
  for (const Bar& bar : bars.bars) longest = std::max(longest, length_of(bar));
  if (longest <= 0) return "";
  const bool one = bars.bars.size() == 1;
  bool has_rows = false;
  std::string picture;
  std::vector<LegendEntry> entries;
  std::vector<std::vector<Cell>> rows;
  const int height = bars.is_large ? kLargeBarHeight : kBarHeight;
  for (const Bar& bar : bars.bars) {
    const std::string mark = drawn_bar(bar, longest, height);
    const bool is_plain = one && bar.label.empty() && bar.text.empty();
    picture += is_plain
                   ? fmt::format("<svg role=\"img\" aria-label=\"{}\" height=\"{}\">\n{}</svg>",
                                 in_xml(bars.title), height, mark)
                   : picture_row(bar.label, mark, bar.text);
    if (!is_plain) has_rows = true;
    for (const Part& part : bar.parts) {
      rows.push_back({{bar.label}, {part.name}, {part.text, part.figure}});
      if (one)
        entries.push_back({part.name, part.kind, part.text, part.figure, part.remark, part.place});
      else if (!knows(entries, part.name))
        entries.push_back({part.name, part.kind});
    }
  }
  const std::string table = one ? "" : number_table({"", "part", ""}, rows);
  if (has_rows) picture = "<div class=\"rows bars\">\n" + picture + "</div>";
  return framed(bars.title, bars.note, picture, legend_of(entries) + table);
}

}  // namespace loaderscope::page
