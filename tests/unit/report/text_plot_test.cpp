// Plots of braille letters.
#include "report/text_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/text_table.h"

namespace loaderscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TextPlot, DrawsDotForEachValue) {
  // 12 letters are 24 dots across, 2 are 8 down.
  TextPlot plot{"t", {}, 8, "8", "a", "b"};
  for (int i = 0; i < 24; ++i) plot.strokes.push_back({double(i), i / 3.0, i / 3.0});
  EXPECT_THAT(plot_lines(plot, 17, 2),
              ElementsAre("  t", "  8 ⠀⠀⠀⠀⠀⠀⣀⡠⠤⠒⠊⠉", "  0 ⣀⡠⠤⠒⠊⠉⠀⠀⠀⠀⠀⠀", "    a          b"));
}

TEST(TextPlot, PointsCaretAtMark) {
  TextPlot plot{"t", {{0, 1, 1}, {5, 1, 1}, {10, 1, 1}}, 8, "8", "a", "b"};
  const auto mark_at = [&](double x) {
    plot.mark_x = x;
    plot.mark = "knee 3";
    return plot_lines(plot, 25, 2).at(3);
  };
  EXPECT_EQ(mark_at(0), "    ^ knee 3");
  EXPECT_EQ(mark_at(5), "              ^ knee 3");
  EXPECT_EQ(mark_at(10), "                knee 3 ^");
}

TEST(TextPlot, StaysWithinWidthForAnyNumber) {
  TextPlot plot{"time", {}, 1, "1.000 s", "step 5", "250"};
  plot.strokes = {{0, -1, 0.5}, {1, 0.2, 1e300}, {2, 0.9, 0.1}, {3, 0, 0}};
  for (const int width : {20, 40, 80, 200}) {
    for (const std::string& line : plot_lines(plot, width))
      EXPECT_LE(count_columns(line), static_cast<std::size_t>(width < 30 ? 30 : width)) << line;
  }
}

TEST(TextPlot, DrawsNothingWithoutValues) {
  EXPECT_THAT(plot_lines({"t", {}, 1, "1", "a", "b"}, 80), IsEmpty());
  EXPECT_THAT(plot_lines({"t", {{0, 0, 0}}, 0, "0", "a", "b"}, 80), IsEmpty());
}

}  // namespace
}  // namespace loaderscope
