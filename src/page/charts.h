// The pictures of a page, in the units of a result. Each becomes one HTML figure: an SVG as wide as
// the page, a legend whose numbers are text, and a table of the numbers for who cannot see it.
//
// `kind` is a colour: a cause or a stage by its name, or one of the few others of page.css.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loaderscope::page {

// Place of a value on an axis, and the labels of the axis.
enum class Unit : std::uint8_t { number, seconds, share, bytes };

std::string spelled(Unit unit, double value);  // "2.5 ms", "12 %", "1,200"

// The unit of all labels of an axis: an axis with two units is hard to read.
struct AxisUnit {
  double size = 1;
  std::string name;  // "ms"; "" for numbers

  std::string spelled(double value) const;  // "2.5 ms"
};

struct Scale {
  std::string label;
  double least = 0, most = 1;
  Unit unit = Unit::number;
  bool logarithmic = false;  // requires values above 0
  bool whole = false;        // values are counts: no label is between two of them

  double at(double value) const;  // from 0 to 1, within the scale
  AxisUnit axis_unit() const;
};

// Makes a scale from `least` to at least `most`. Accepts `most` = `least`.
Scale linear_scale(std::string label, Unit unit, double least, double most);
Scale with_room(Scale scale);                                     // adds room at both ends for dots
Scale count_scale(std::string label, double least, double most);  // labels are whole numbers
Scale logarithmic_scale(std::string label, Unit unit, double least, double most);

struct Tick {
  double at = 0;  // place on the axis, 0 to 1
  std::string text;
};
std::vector<Tick> scale_ticks(const Scale& scale, int about);

// A number of the result, with its path in the JSON.
struct Figure {
  double value = 0;
  std::string path;
};

// --- the numbers that are looked for first ---

struct Tile {
  std::string name, text;
  Figure figure;
};
std::string drawn(const std::vector<Tile>& tiles);

// --- parts of a whole, side by side ---

struct Part {
  std::string name, kind;
  double size = 0;
  std::string text;  // "58.1 ms, 24.9 %"
  Figure figure{};   // path "": not in the result
  std::string remark = {};
  std::string place = {};  // place of a picture with more details
};
struct Bar {
  std::string label, text;  // text at the left, and at the right
  std::vector<Part> parts;
};
struct Bars {
  std::string title, note;
  std::vector<Bar> bars;  // length of each: the sum of its parts
  bool is_large = false;
};
std::string drawn(const Bars& bars);

// --- values over an axis ---

struct Point {
  double x = 0, y = 0;
  double low = 0, high = 0;  // an interval; none where they are equal
  std::string title = {};    // name of the point
  std::string path = {};     // path of y in the result; "": not in the result
};
// Layers lie upon each other, each from low to high. The value of a layer is its height.
enum class Shape : std::uint8_t { line, points, line_and_points, layer };
struct Series {
  std::string name, kind;
  Shape shape = Shape::line;
  std::vector<Point> points;  // sorted by x
};
struct Mark {
  double x = 0;
  std::string text;
};
struct Plot {
  std::string title, note;
  Scale x, y;
  std::vector<Series> series;
  std::vector<Mark> marks = {};
  std::string interval = {};  // meaning of low and high: "95 %"; "": no point has an interval
};
std::string drawn(const Plot& plot);

// --- a row per thing: quantiles of durations, or intervals of changes ---

struct Range {
  std::string label, kind;
  std::vector<double> at;  // ascending
  std::size_t chief = 0;   // index of the value that is drawn large
  std::string text;
  std::string path = {};  // path of the large value in the result; "": not in the result
};
struct Ranges {
  std::string title, note;
  Scale scale;
  std::vector<Range> rows;
  std::vector<std::string> columns = {};  // names of the values of a row; empty: no names
};
std::string drawn(const Ranges& ranges);

// --- bars of time on lanes ---

struct LaneBar {
  double begin = 0, end = 0;  // seconds
  std::string name, kind;
};
struct Lane {
  std::string label;
  std::vector<LaneBar> bars;  // sorted by time; later bars cover earlier bars
};
struct Timeline {
  std::string title, note;
  double begin = 0, end = 0;
  std::vector<Lane> lanes;
  std::vector<Mark> marks = {};
  std::vector<std::string> places = {};  // targets of links
};
std::string drawn(const Timeline& timeline);

// --- values by two settings ---

struct HeatMap {
  std::string title, note;
  std::string row_name, column_name;
  std::vector<std::string> rows, columns;
  // Values by row and column; empty if a cell has no value.
  std::vector<std::vector<std::optional<double>>> cells;
};
std::string drawn(const HeatMap& map);

// --- things with what is known of them, side by side ---

struct Box {
  std::string title;
  std::vector<std::string> lines;
};
struct Boxes {
  std::string title, note;
  std::vector<Box> boxes;
};
std::string drawn(const Boxes& boxes);

}  // namespace loaderscope::page
