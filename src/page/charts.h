// The pictures of a page, in the units of a result. Each becomes one HTML figure: an SVG as wide as
// the page, a legend whose numbers are text, and a table of the numbers for who cannot see it.
//
// `kind` is a colour: a cause or a stage by its name, or one of the few others of page.css.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "page/scale.h"

namespace loaderscope::page {

// A number that stands in the result, at a path of its JSON.
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
  Figure figure{};   // path "": it stands nowhere
  std::string remark = {};
  std::string place = {};  // of another picture, that shows more of it
};
struct Bar {
  std::string label, text;  // before it, and behind it
  std::vector<Part> parts;
};
struct Bars {
  std::string title, note;
  std::vector<Bar> bars;  // as long as their parts together
};
std::string drawn(const Bars& bars);

// --- values over an axis ---

struct Point {
  double x = 0, y = 0;
  double low = 0, high = 0;  // an interval; none where they are equal
  std::string title = {};    // what the point is
  std::string path = {};     // of y in the result; "": it stands nowhere
};
// A band goes from low to high; layers are bands upon each other. Neither has a y of its own: a
// layer is worth its height, a band nothing but where it begins and ends.
enum class Shape : std::uint8_t { line, points, line_and_points, band, layer };
struct Series {
  std::string name, kind;
  Shape shape = Shape::line;
  std::vector<Point> points;  // in the order of x
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
  std::string interval = {};  // what low and high are: "95 %"; "": no point has any
};
std::string drawn(const Plot& plot);

// --- a row per thing: quantiles of durations, or intervals of changes ---

struct Range {
  std::string label, kind;
  std::vector<double> at;  // ascending
  std::size_t chief = 0;   // which of them is drawn large
  std::string text;
  std::string path = {};  // of the large one in the result; "": it stands nowhere
};
struct Ranges {
  std::string title, note;
  Scale scale;
  std::vector<Range> rows;
  std::vector<std::string> columns = {};  // what the values of a row are; none: they have no names
};
std::string drawn(const Ranges& ranges);

// --- what went on when ---

struct LaneBar {
  double begin = 0, end = 0;  // seconds
  std::string name, kind;
};
struct Lane {
  std::string label;
  std::vector<LaneBar> bars;  // in the order of time; later ones lie over earlier ones
};
struct Timeline {
  std::string title, note;
  double begin = 0, end = 0;
  std::vector<Lane> lanes;
  std::vector<Mark> marks = {};
  std::vector<std::string> places = {};  // that links lead to
};
std::string drawn(const Timeline& timeline);

// --- values by two settings ---

struct HeatMap {
  std::string title, note;
  std::string row_name, column_name;
  std::vector<std::string> rows, columns;
  // By row and column; nothing where there is none.
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
