#include <fmt/format.h>

#include <algorithm>

#include "page/escape.h"
#include "page/markup.h"

namespace loaderscope::page {
namespace {

constexpr int kShades = 9;

std::string cell_of(const std::optional<double>& value, double most) {
  if (!value) return "<td></td>";
  const int shade =
      most > 0 ? std::clamp(static_cast<int>(*value / most * kShades), 0, kShades) : 0;
  return fmt::format("<td class=\"heat heat-{}\">{}</td>", shade,
                     in_xml(spelled(Unit::number, *value)));
}

}  // namespace

std::string drawn(const HeatMap& map) {
  double most = 0;
  for (const auto& row : map.cells) {
    for (const auto& cell : row) most = std::max(most, cell.value_or(0));
  }
  std::string picture =
      fmt::format("<div class=\"wide\"><table class=\"map\">\n<tr><th>{} \\ {}</th>",
                  in_xml(map.row_name), in_xml(map.column_name));
  for (const std::string& column : map.columns)
    picture += fmt::format("<th scope=\"col\">{}</th>", in_xml(column));
  picture += "</tr>\n";
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    picture += fmt::format("<tr><th scope=\"row\">{}</th>", in_xml(map.rows[row]));
    for (const auto& cell : map.cells[row]) picture += cell_of(cell, most);
    picture += "</tr>\n";
  }
  return framed(map.title, map.note, picture + "</table></div>", "");
}

}  // namespace loaderscope::page
