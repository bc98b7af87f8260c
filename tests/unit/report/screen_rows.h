// The rows of a terminal that a text takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>

#include "report/text_table.h"

namespace loaderscope::test {

inline constexpr std::size_t kRowsOfScreen = 28;

// Lines that are longer than the terminal is wide take several rows.
inline std::size_t screen_rows(const std::string& text, std::size_t columns = 100) {
  std::istringstream lines(text);
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line);)
    rows += std::max<std::size_t>(1, (count_columns(line) + columns - 1) / columns);
  return rows;
}

}  // namespace loaderscope::test
