#include <fmt/format.h>

#include "page/escape.h"
#include "page/markup.h"

namespace loaderscope::page {
namespace {

// Grid lines, which join those of the rows above and below.
std::string grid_lines(const Scale& scale) {
  constexpr int kTicks = 5;
  constexpr std::string_view kLine =
      "<line class=\"{0}\" x1=\"{1}\" x2=\"{1}\" y1=\"0\" y2=\"100%\"/>\n";
  std::string text;
  for (const Tick& tick : ticks_of(scale, kTicks))
    text += fmt::format(kLine, "grid", percent(tick.at));
  if (!scale.logarithmic && scale.least < 0 && scale.most > 0)
    text += fmt::format(kLine, "zero", percent(scale.at(0)));
  return text;
}

std::string range_marks(const Range& row, const Scale& scale) {
  std::string text = fmt::format(
      "<line class=\"span k-{}\" x1=\"{}\" x2=\"{}\" y1=\"50%\" y2=\"50%\"/>\n", in_xml(row.kind),
      percent(scale.at(row.at.front())), percent(scale.at(row.at.back())));
  for (std::size_t i = 0; i < row.at.size(); ++i) {
    text += fmt::format(
        "<circle class=\"k-{}\" cx=\"{}\" cy=\"50%\" r=\"{}\"><title>{}: {}</title></circle>\n",
        in_xml(row.kind), percent(scale.at(row.at[i])), i == row.chief ? 6 : 3, in_xml(row.label),
        in_xml(spelled(scale.unit, row.at[i])));
  }
  return text;
}

}  // namespace

std::string drawn(const Ranges& ranges) {
  if (ranges.rows.empty()) return "";
  const Scale& scale = ranges.scale;
  const std::string grid = grid_lines(scale);
  std::string picture;
  std::vector<std::vector<Cell>> rows;
  for (const Range& row : ranges.rows) {
    if (row.at.empty()) continue;
    picture += picture_row(row.label, grid + range_marks(row, scale), row.text);
    rows.push_back({{row.label}});
    for (std::size_t i = 0; i < row.at.size(); ++i)
      rows.back().push_back(
          {spelled(scale.unit, row.at[i]), {row.at[i], i == row.chief ? row.path : std::string()}});
  }
  std::vector<std::string> header = ranges.columns;
  if (!header.empty()) header.insert(header.begin(), "");
  return framed(ranges.title, ranges.note,
                "<div class=\"rows\">\n" + picture + axis_row(scale) + "</div>",
                number_table(header, rows));
}

}  // namespace loaderscope::page
