// A plot of braille letters, which have two dots beside four: for terminals.
#pragma once

#include <string>
#include <vector>

namespace loaderscope {

// Dots from `low` to `high` at `x`.
struct Stroke {
  double x = 0, low = 0, high = 0;
};

struct TextPlot {
  std::string title;
  std::vector<Stroke> strokes;
  double most = 1;          // of the y axis, which begins at 0; what is above it is at its top
  std::string most_text;    // "31.2 ms"
  std::string first, last;  // below the ends of the x axis
  double mark_x = 0;        // where `mark` stands below the axis: "^ knee 3"; "": nothing does
  std::string mark = {};
};

// With its title, its rows and what stands below it, within `width` columns. Nothing without a
// stroke.
std::vector<std::string> lines_of(const TextPlot& plot, int width, int rows = 5);

}  // namespace loaderscope
