// Parts that the charts share: frames, legends, tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "page/charts.h"

namespace loaderscope::page {

// Returns the figure around a picture. `below` is a legend or a table, `places` are targets of
// links.
std::string framed(std::string_view title, std::string_view note, const std::string& picture,
                   const std::string& below, const std::vector<std::string>& places = {});

struct LegendEntry {
  std::string name, kind, text = {};
  Figure figure{};
  std::string remark = {}, place = {};
};
std::string legend_html(const std::vector<LegendEntry>& entries);

struct Cell {
  std::string text;
  Figure figure{};
};
// Folded away. "" without rows.
std::string number_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<Cell>>& rows);

std::string percent(double share);  // percentage of a width for SVG: "12.34%"

// Makes an area that the script zooms along its x axis: `content` in 1000 units of width, and the
// ticks of the scale below it. `grid` is not zoomed. `attributes`: more data for the script.
inline constexpr double kAreaWidth = 1000;
std::string zoomable(std::string_view title, const Scale& x, double height, const std::string& grid,
                     const std::string& content, const std::string& attributes = {});

// Puts labels to the left of a picture, each on the row of its mark.
struct RowLabel {
  double y = 0;  // middle of the row, in pixels
  std::string text;
};
std::string with_labels(const std::vector<RowLabel>& labels, double height,
                        const std::string& picture);

// Returns one row of a picture: its label, its mark and its text, in three columns. `mark` is the
// content of an SVG.
std::string picture_row(std::string_view label, std::string_view mark, std::string_view text);
// Returns the labels of a scale for such rows.
std::string axis_row(const Scale& scale);

std::string mark_lines(const std::vector<Mark>& marks, const Scale& x, double height);

}  // namespace loaderscope::page
