// Lines that fit a screen: where there are too many, those that matter least are left out.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/report.h"

namespace loaderscope {

inline constexpr std::size_t kScreenRows = 28;

// What goes first where the lines are too many. `needed` never goes.
enum class Worth : std::uint8_t { beside, detail, basis, evidence, advice, needed };

class Screen {
 public:
  explicit Screen(const ReportStyle& style) : style_(style) {}

  // Wrapped to the width; control characters are spelled. "" is no line.
  void line(Worth worth, const std::string& text);
  // As they stand: rows of a table, or what may not be broken.
  void raw(Worth worth, std::string text);
  // Never broken, never left out, in colour where the style has it.
  void headline(const std::string& text, std::string_view colour);

  // Leaves out what matters least, the last of it first, until at most `rows` rows are left.
  // Returns how many rows that were.
  std::size_t fit(std::size_t rows);
  std::size_t rows() const;  // on a terminal of the style's width
  void print(std::ostream& out) const;

 private:
  struct Item {
    Worth worth;
    std::string text;  // with line feeds within
    std::size_t rows;
  };

  ReportStyle style_;
  std::vector<Item> items_;
};

// Both, the first one cut to a screen unless the style is verbose; `more` stands between them where
// something was left out.
void print_fitting(std::ostream& out, Screen body, const Screen& last, const ReportStyle& style,
                   const std::string& more = "");

}  // namespace loaderscope
