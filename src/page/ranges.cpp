#include <fmt/format.h>

#include "page/escape.h"
#include "page/markup.h"

namespace loaderscope::page {
namespace {

constexpr int kRangeHeight = 40, kRangeLabel = 16, kRangeAxis = 34;

std::string drawn_row(const Range& row, const Scale& scale, int y) {
  const int middle = y + kRangeLabel + 8;
  std::string text = fmt::format(
      "<text x=\"0\" y=\"{0}\">{1}</text><text x=\"100%\" y=\"{0}\" "
      "text-anchor=\"end\">{2}</text>\n",
      y + 12, in_xml(row.label), in_xml(row.text));
  text += fmt::format("<line class=\"span k-{}\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n",
                      in_xml(row.kind), percent(scale.at(row.at.front())),
                      percent(scale.at(row.at.back())), middle, middle);
  for (std::size_t i = 0; i < row.at.size(); ++i) {
    text += fmt::format(
        "<circle class=\"k-{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"><title>{}: {}</title></circle>\n",
        in_xml(row.kind), percent(scale.at(row.at[i])), middle, i == row.chief ? 6 : 3,
        in_xml(row.label), in_xml(spelled(scale.unit, row.at[i])));
  }
  return text;
}

}  // namespace

std::string drawn(const Ranges& ranges) {
  if (ranges.rows.empty()) return "";
  const int height = kRangeHeight * static_cast<int>(ranges.rows.size());
  std::string picture;
  for (const Tick& tick : ticks_of(ranges.scale, 5)) {
    const char* anchor = tick.at < 0.03 ? "start" : tick.at > 0.97 ? "end" : "middle";
    picture += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{0}\" y1=\"0\" y2=\"{1}\"/><text class=\"tick\" "
        "x=\"{0}\" y=\"{2}\" text-anchor=\"{3}\">{4}</text>\n",
        percent(tick.at), height, height + 14, anchor, in_xml(tick.text));
  }
  const Scale& scale = ranges.scale;
  if (!scale.logarithmic && scale.least < 0 && scale.most > 0)
    picture += fmt::format("<line class=\"zero\" x1=\"{0}\" x2=\"{0}\" y1=\"0\" y2=\"{1}\"/>\n",
                           percent(scale.at(0)), height);
  std::vector<std::vector<Cell>> rows;
  int y = 0;
  for (const Range& row : ranges.rows) {
    if (row.at.empty()) continue;
    picture += drawn_row(row, scale, y);
    rows.push_back({{row.label}});
    for (std::size_t i = 0; i < row.at.size(); ++i)
      rows.back().push_back(
          {spelled(scale.unit, row.at[i]), {row.at[i], i == row.chief ? row.path : std::string()}});
    y += kRangeHeight;
  }
  std::vector<std::string> header = ranges.columns;
  if (!header.empty()) header.insert(header.begin(), "");
  picture += fmt::format("<text class=\"axis\" x=\"100%\" y=\"{}\" text-anchor=\"end\">{}</text>\n",
                         height + 30, in_xml(scale.label));
  return framed(ranges.title, ranges.note,
                fmt::format("<svg role=\"img\" aria-label=\"{}\" height=\"{}\">\n{}</svg>",
                            in_xml(ranges.title), height + kRangeAxis, picture),
                number_table(header, rows));
}

}  // namespace loaderscope::page
