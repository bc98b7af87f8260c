#include "report/screen.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "report/text_table.h"

namespace loaderscope {
namespace {

// A terminal breaks what is longer than it is wide.
std::size_t rows_of(const std::string& text, int width) {
  std::istringstream lines(text);
  std::size_t rows = 0;
  const auto columns = static_cast<std::size_t>(std::max(1, width));
  for (std::string line; std::getline(lines, line);)
    rows += std::max<std::size_t>(1, (columns_of(line) + columns - 1) / columns);
  return rows;
}

}  // namespace

void Screen::line(Worth worth, const std::string& text) {
  if (!text.empty()) raw(worth, wrapped(printable(text), style_.width, 2));
}

void Screen::raw(Worth worth, std::string text) {
  const std::size_t rows = rows_of(text, style_.width);
  items_.push_back({worth, std::move(text), rows});
}

void Screen::headline(const std::string& text, std::string_view colour) {
  const std::string plain = printable(text);
  const std::string shown = style_.colour ? std::string(colour) + plain + "\x1b[0m" : plain;
  items_.push_back({Worth::needed, shown, rows_of(plain, style_.width)});
}

std::size_t Screen::fit(std::size_t most) {
  std::size_t rows = this->rows();
  const std::size_t before = rows;
  while (rows > most) {
    const auto last =
        std::min_element(items_.rbegin(), items_.rend(),
                         [](const Item& a, const Item& b) { return a.worth < b.worth; });
    if (last == items_.rend() || last->worth == Worth::needed) break;
    rows -= last->rows;
    items_.erase(std::next(last).base());
  }
  return before - rows;
}

std::size_t Screen::rows() const {
  std::size_t sum = 0;
  for (const Item& item : items_) sum += item.rows;
  return sum;
}

void print_fitting(std::ostream& out, Screen body, const Screen& last, const ReportStyle& style,
                   const std::string& more) {
  Screen hint(style);
  if (!style.verbose && last.rows() + body.rows() > kScreenRows) {
    hint.line(Worth::needed, more);
    body.fit(kScreenRows - std::min(kScreenRows, last.rows() + hint.rows()));
  }
  body.print(out);
  hint.print(out);
  last.print(out);
}

void Screen::print(std::ostream& out) const {
  for (const Item& item : items_) out << item.text << '\n';
}

}  // namespace loaderscope
