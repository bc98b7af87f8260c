#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "page/escape.h"
#include "page/markup.h"

namespace loaderscope::page {
namespace {

constexpr int kBarLabel = 18, kBarHeight = 22, kBarGap = 10;

double length_of(const Bar& bar) {
  return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0,
                         [](double sum, const Part& part) { return sum + part.size; });
}

std::string drawn_bar(const Bar& bar, double longest, int y) {
  std::string text;
  int top = y;
  if (!bar.label.empty() || !bar.text.empty()) {
    text += fmt::format(
        "<text x=\"0\" y=\"{0}\">{1}</text><text x=\"100%\" y=\"{0}\" "
        "text-anchor=\"end\">{2}</text>\n",
        y + 13, in_xml(bar.label), in_xml(bar.text));
    top += kBarLabel;
  }
  double at = 0;
  for (const Part& part : bar.parts) {
    if (part.size <= 0) continue;
    text += fmt::format(
        "<rect class=\"k-{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}: "
        "{}</title></rect>\n",
        in_xml(part.kind), percent(at / longest), top, percent(part.size / longest), kBarHeight,
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
  std::string picture;
  std::vector<LegendEntry> entries;
  std::vector<std::vector<Cell>> rows;
  int y = 0;
  for (const Bar& bar : bars.bars) {
    picture += drawn_bar(bar, longest, y);
    y += kBarHeight + kBarGap + (bar.label.empty() && bar.text.empty() ? 0 : kBarLabel);
    for (const Part& part : bar.parts) {
      rows.push_back({{bar.label}, {part.name}, {part.text, part.figure}});
      if (one)
        entries.push_back({part.name, part.kind, part.text, part.figure, part.remark, part.place});
      else if (!knows(entries, part.name))
        entries.push_back({part.name, part.kind});
    }
  }
  const std::string table = one ? "" : number_table({"", "part", ""}, rows);
  return framed(bars.title, bars.note,
                fmt::format("<svg role=\"img\" aria-label=\"{}\" height=\"{}\">\n{}</svg>",
                            in_xml(bars.title), std::max(1, y - kBarGap), picture),
                legend_of(entries) + table);
}

}  // namespace loaderscope::page
