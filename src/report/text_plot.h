// Plots for terminals, drawn with braille letters, which are two dots wide and four high.
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
  double most = 1;          // top of the y axis, which begins at 0; larger values are at the top
  std::string most_text;    // "31.2 ms"
  std::string first, last;  // below the ends of the x axis
  double mark_x = 0;        // position of `mark` below the axis: "^ knee 3"; unused if `mark` is ""
  std::string mark = {};
};

// Returns the title, the rows and the text below, within `width` columns. Empty without a stroke.
std::vector<std::string> plot_lines(const TextPlot& plot, int width, int rows = 5);

}  // namespace loaderscope
