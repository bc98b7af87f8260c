#include "report/text_table.h"

#include <algorithm>
#include <utility>

#include "base/replace_all.h"

namespace loaderscope {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string padded(const std::string& cell, std::size_t width, char alignment) {
  const std::string space(width - std::min(width, count_columns(cell)), ' ');
  return alignment == 'r' ? space + cell : cell + space;
}

std::vector<std::string> printable_cells(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable(cell);
  return cells;
}

}  // namespace

TextTable::TextTable(std::string_view alignment, std::vector<std::string> header)
    : alignment_(alignment), header_(printable_cells(std::move(header))) {}

void TextTable::add(std::vector<std::string> cells) {
  rows_.push_back(printable_cells(std::move(cells)));
}

TextTable::Shown TextTable::shown() const {
  Shown shown;
  shown.rows.resize(rows_.size());
  for (std::size_t c = 0; c < alignment_.size(); ++c) {
    const auto has_value = [&](const auto& row) { return c < row.size() && !row[c].empty(); };
    if (std::none_of(rows_.begin(), rows_.end(), has_value)) continue;
    shown.alignment += alignment_[c];
    if (!header_.empty()) shown.header.push_back(header_[c]);
    for (std::size_t r = 0; r < rows_.size(); ++r)
      shown.rows[r].push_back(c < rows_[r].size() ? rows_[r][c] : "");
  }
  return shown;
}

std::vector<std::string> TextTable::lines(int width) const {
  const Shown table = shown();
  std::vector<std::vector<std::string>> rows = table.rows;
  if (!table.header.empty()) rows.insert(rows.begin(), table.header);
  std::vector<std::size_t> widths(table.alignment.size());
  std::size_t before_last = 0;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    for (const auto& row : rows) widths[c] = std::max(widths[c], count_columns(row[c]));
    if (c + 1 < widths.size()) before_last += 2 + widths[c];
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c)
      line += "  " + padded(row[c], widths[c], table.alignment[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    if (width > 0 && table.alignment.ends_with('w'))
      line = "  " + wrapped(line.substr(2), width - 2, static_cast<int>(before_last) + 2);
    lines.push_back(std::move(line));
  }
  return lines;
}

void TextTable::print(std::ostream& out) const {
  for (const std::string& line : lines()) out << line << '\n';
}

std::size_t TextTable::columns() const {
  std::size_t longest = 0;
  for (const std::string& line : lines()) longest = std::max(longest, count_columns(line));
  return longest;
}

std::size_t count_columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string wrapped(std::string_view text, int width, int indent) {
  const auto most = static_cast<std::size_t>(std::max(width, indent + 20));
  std::string result, line;
  while (!text.empty()) {
    // A number and its unit stay together.
    std::size_t space = std::min(text.find(' '), text.size());
    while (space > 0 && space < text.size() && is_digit(text[space - 1])) {
      space = std::min(text.find(' ', space + 1), text.size());
    }
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    const bool begins = line.find_first_not_of(' ') == line.npos;
    if (!begins && count_columns(line) + 1 + count_columns(word) > most) {
      result += line + '\n';
      line = std::string(static_cast<std::size_t>(indent), ' ');
    } else if (!begins) {
      line += ' ';
    }
    line += word;
  }
  return result + line;
}

std::string right_column(std::string_view text, int page_width, int indent) {
  const std::string left(static_cast<std::size_t>(indent), ' ');
  return replace_all(wrapped(text, page_width - indent, 0), "\n", "\n" + left);
}

}  // namespace loaderscope
