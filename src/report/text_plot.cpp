#include "report/text_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "report/text_table.h"

namespace loaderscope {
namespace {

constexpr int kAcross = 2, kDown = 4;  // dots of a letter
// Bits of a letter, by row and column.
constexpr std::array<std::array<std::uint8_t, kAcross>, kDown> kDots = {
    {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};

// U+2800 and the dots, in UTF-8.
std::string letter(std::uint8_t dots) {
  return {'\xe2', static_cast<char>(0xa0 | dots >> 6), static_cast<char>(0x80 | (dots & 0x3f))};
}

class Canvas {
 public:
  Canvas(int columns, int rows)
      : columns_(columns), rows_(rows), letters_(static_cast<std::size_t>(columns * rows)) {}

  int across() const { return columns_ * kAcross; }
  int down() const { return rows_ * kDown; }

  void dot(int x, int y) {
    letters_[static_cast<std::size_t>(y / kDown * columns_ + x / kAcross)] |=
        kDots.at(static_cast<std::size_t>(y % kDown)).at(static_cast<std::size_t>(x % kAcross));
  }

  std::string row(int number) const {
    std::string text;
    for (int column = 0; column < columns_; ++column)
      text += letter(letters_[static_cast<std::size_t>(number * columns_ + column)]);
    return text;
  }

 private:
  int columns_, rows_;
  std::vector<std::uint8_t> letters_;
};

int place(double share, int dots) {
  if (!(share > 0)) return 0;
  return std::min(dots - 1, static_cast<int>(std::min(share, 1.0) * dots));
}

// Returns "^ knee 3" with its caret in column `at`. Near the end, the text comes before the caret.
std::string caret_line(const std::string& text, int at, int columns) {
  const auto before = static_cast<std::size_t>(at), length = count_columns(text);
  if (before + 2 + length <= static_cast<std::size_t>(columns))
    return std::string(before, ' ') + "^ " + text;
  if (before < length + 1) return std::string(before, ' ') + "^";
  return std::string(before - length - 1, ' ') + text + " ^";
}

}  // namespace

std::vector<std::string> plot_lines(const TextPlot& plot, int width, int rows) {
  if (plot.strokes.empty() || !(plot.most > 0)) return {};
  const auto margin = static_cast<int>(count_columns(plot.most_text)) + 3;
  Canvas canvas(std::max(10, width - margin - 1), rows);
  const auto [least, most] =
      std::minmax_element(plot.strokes.begin(), plot.strokes.end(),
                          [](const Stroke& a, const Stroke& b) { return a.x < b.x; });
  const double length = most->x > least->x ? most->x - least->x : 1;
  for (const Stroke& stroke : plot.strokes) {
    const int x = place((stroke.x - least->x) / length, canvas.across());
    const int low = place(stroke.low / plot.most, canvas.down());
    const int high = std::max(low, place(stroke.high / plot.most, canvas.down()));
    for (int y = low; y <= high; ++y) canvas.dot(x, canvas.down() - 1 - y);
  }
  const std::string blank(static_cast<std::size_t>(margin), ' ');
  std::vector<std::string> lines = {"  " + plot.title};
  const std::string zero = std::string(static_cast<std::size_t>(margin) - 2, ' ') + "0 ";
  for (int row = 0; row < rows; ++row)
    lines.push_back((row == 0          ? "  " + plot.most_text + " "
                     : row == rows - 1 ? zero
                                       : blank) +
                    canvas.row(row));
  if (!plot.mark.empty()) {
    const int at = place((plot.mark_x - least->x) / length, canvas.across()) / kAcross;
    lines.push_back(blank + caret_line(plot.mark, at, canvas.across() / kAcross));
  }
  const std::size_t gap = static_cast<std::size_t>(canvas.across() / kAcross);
  const std::size_t used = count_columns(plot.first) + count_columns(plot.last);
  lines.push_back(blank + plot.first + std::string(gap > used ? gap - used : 1, ' ') + plot.last);
  return lines;
}

}  // namespace loaderscope
