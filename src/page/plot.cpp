#include <fmt/format.h>

#include <algorithm>

#include "page/escape.h"
#include "page/markup.h"

namespace loaderscope::page {
namespace {

constexpr double kHeight = 200;
constexpr std::size_t kMaxRows = 200;  // limit for the table

class Area {
 public:
  explicit Area(const Plot& plot) : plot_(plot) {}

  double x(double value) const { return kAreaWidth * plot_.x.at(value); }
  double y(double value) const { return kHeight * (1 - plot_.y.at(value)); }

  std::string line(const Series& series) const {
    std::string d;
    for (const Point& point : series.points)
      d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? "M" : "L", x(point.x), y(point.y));
    return path("line", series, d, series.name);
  }

  std::string layer(const Series& series) const {
    std::string d;
    for (const Point& point : series.points)
      d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? "M" : "L", x(point.x), y(point.high));
    for (auto point = series.points.rbegin(); point != series.points.rend(); ++point)
      d += fmt::format("L{:.1f} {:.1f}", x(point->x), y(point->low));
    return path("layer", series, d + (d.empty() ? "" : "z"), series.name);
  }

  // A line of no length with round ends stays round however the area is stretched.
  std::string points(const Series& series) const {
    std::string text;
    for (const Point& point : series.points) {
      const std::string title = point.title.empty() ? series.name : point.title;
      if (point.high > point.low)
        text += path("whisker", series,
                     fmt::format("M{:.1f} {:.1f}V{:.1f}", x(point.x), y(point.low), y(point.high)),
                     title);
      text += path("dot", series, fmt::format("M{:.1f} {:.1f}h0", x(point.x), y(point.y)), title);
    }
    return text;
  }

 private:
  static std::string path(std::string_view what, const Series& series, const std::string& d,
                          const std::string& title) {
    return fmt::format("<path class=\"{} k-{}\" d=\"{}\"><title>{}</title></path>\n", what,
                       escape_xml(series.kind), d, escape_xml(title));
  }

  const Plot& plot_;
};

struct Grid {
  std::string lines;
  std::vector<RowLabel> labels;
};

Grid make_grid(const Scale& y) {
  Grid grid;
  for (const Tick& tick : scale_ticks(y, 4)) {
    const double at = kHeight * (1 - tick.at);
    grid.lines += fmt::format(
        "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>\n", at);
    grid.labels.push_back({at, tick.text});
  }
  return grid;
}

double value_of(Shape shape, const Point& point) {
  return shape == Shape::layer ? point.high - point.low : point.y;
}

// The values of a series for the crosshair, in the unit of the axis. Its places are left out if
// they are those of the series before.
std::string series_data(const Series& series, const Plot& plot, const std::string& x_before,
                        std::string& x) {
  const double size = plot.y.axis_unit().size;
  std::string y;
  x.clear();
  for (const Point& point : series.points) {
    x += fmt::format("{}{:.9g}", x.empty() ? "" : " ", point.x);
    y += fmt::format("{}{:.4g}", y.empty() ? "" : " ", value_of(series.shape, point) / size);
  }
  return fmt::format("<g data-name=\"{}\" data-kind=\"{}\"{} data-y=\"{}\">\n",
                     escape_xml(series.name), escape_xml(series.kind),
                     x == x_before ? "" : fmt::format(" data-x=\"{}\"", x), y);
}

std::string interval_text(Shape shape, const Point& point, Unit unit) {
  if (shape == Shape::layer || !(point.high > point.low)) return "";
  return spelled(unit, point.low) + " to " + spelled(unit, point.high);
}

std::vector<std::vector<Cell>> point_rows(const Plot& plot) {
  std::vector<std::vector<Cell>> rows;
  for (const Series& series : plot.series) {
    for (const Point& point : series.points) {
      rows.push_back({{series.name},
                      {point.title},
                      {spelled(plot.x.unit, point.x)},
                      {spelled(plot.y.unit, value_of(series.shape, point)),
                       {value_of(series.shape, point), point.path}}});
      if (!plot.interval.empty())
        rows.back().push_back({interval_text(series.shape, point, plot.y.unit)});
    }
  }
  if (rows.size() > kMaxRows) rows.clear();
  return rows;
}

}  // namespace

std::string drawn(const Plot& plot) {
  const Area area(plot);
  const Grid grid = make_grid(plot.y);
  std::string content = mark_lines(plot.marks, plot.x, kHeight);
  std::vector<LegendEntry> entries;
  std::string x, x_before;
  for (const Series& series : plot.series) {
    if (series.points.empty()) continue;
    content += series_data(series, plot, x_before, x);
    x_before = x;
    const bool both = series.shape == Shape::line_and_points;
    if (series.shape == Shape::line || both) content += area.line(series);
    if (series.shape == Shape::layer) content += area.layer(series);
    if (series.shape == Shape::points || both) content += area.points(series);
    content += "</g>\n";
    entries.push_back({series.name, series.kind});
  }
  if (entries.empty()) return "";
  std::vector<std::string> header = {"", "", plot.x.label, plot.y.label};
  if (!plot.interval.empty()) header.push_back(plot.interval);
  return framed(plot.title, plot.note,
                fmt::format("<p class=\"axis\">{}</p>\n", escape_xml(plot.y.label)) +
                    with_labels(grid.labels, kHeight,
                                zoomable(plot.title, plot.x, kHeight, grid.lines, content,
                                         fmt::format(" data-label=\"{}\" data-value-unit=\"{}\"",
                                                     escape_xml(plot.x.label),
                                                     escape_xml(plot.y.axis_unit().name)))),
                legend_html(entries) + number_table(header, point_rows(plot)));
}

}  // namespace loaderscope::page
