// Aligned columns of plain text, and text within a width.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"

namespace loaderscope {

class TextTable {
 public:
  // One letter per column: 'l', 'r', or 'w' of a last one that is broken where lines are too long.
  // Cells may hold any text: a result from elsewhere must not drive the reader's terminal.
  explicit TextTable(std::string_view alignment, std::vector<std::string> header = {});

  void add(std::vector<std::string> cells);
  // Header, if any, and rows. A column without a value in any row is left out.
  struct Shown {
    std::string alignment;
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
  };
  Shown shown() const;
  // Two spaces before each column. `width`: of the page; 0: nothing is broken.
  std::vector<std::string> lines(int width = 0) const;
  void print(std::ostream& out) const;
  std::size_t columns() const;  // width of its longest line, in columns
  bool empty() const { return rows_.empty(); }

 private:
  std::string alignment_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

// Letters as a terminal shows them: "±" is one.
std::size_t count_columns(std::string_view text);

// `text` on lines of at most `width` columns where it has spaces; further lines begin with `indent`
// spaces.
std::string wrapped(std::string_view text, int width, int indent);
// The same for the right column of a page, `indent` columns from its left. Text may
// precede the first line.
std::string right_column(std::string_view text, int page_width, int indent);

}  // namespace loaderscope
