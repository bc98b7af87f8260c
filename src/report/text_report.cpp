#include "report/text_report.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "report/answer/answer.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

// A terminal breaks what is longer than it is wide.
std::size_t count_rows(const std::string& text, int width) {
  std::istringstream lines(text);
  std::size_t rows = 0;
  const auto columns = static_cast<std::size_t>(std::max(1, width));
  for (std::string line; std::getline(lines, line);)
    rows += std::max<std::size_t>(1, (count_columns(line) + columns - 1) / columns);
  return rows;
}

}  // namespace

std::string_view tone_colour(LineTone tone) {
  switch (tone) {
    case LineTone::good:
      return "\x1b[1;32m";
    case LineTone::warning:
      return "\x1b[1;33m";
    case LineTone::bad:
      return "\x1b[1;31m";
    case LineTone::plain:
      break;
  }
  return "\x1b[1m";
}

void TextReportBuilder::add(Item item) {
  item.rows = count_rows(item.text, style_.width);
  items_.push_back(std::move(item));
}

void TextReportBuilder::line(LinePriority worth, const std::string& text, std::string place) {
  if (text.empty()) return;
  add({.is = Is::text,
       .worth = worth,
       .text = wrapped(printable(text), style_.width, 2),
       .place = std::move(place)});
}

void TextReportBuilder::raw(LinePriority worth, std::string text) {
  add({.is = Is::text, .worth = worth, .text = std::move(text)});
}

void TextReportBuilder::headline(const std::string& text, LineTone tone) {
  add({.is = Is::headline, .worth = LinePriority::needed, .text = printable(text), .tone = tone});
}

// A headline is never left out, so it may not fill the screen.
static std::string first_rows(std::string text) {
  constexpr int kRows = 4;
  std::size_t end = 0;
  for (int row = 0; row < kRows && end != text.npos; ++row) end = text.find('\n', end + 1);
  return end == text.npos ? text : text.substr(0, end) + " ...";
}

void TextReportBuilder::wrapped_headline(const std::string& text, LineTone tone) {
  const int width = style_.width - 4;  // room for " ..."
  add({.is = Is::headline,
       .worth = LinePriority::needed,
       .text = first_rows(wrapped(printable(text), width, 2)),
       .tone = tone});
}

void TextReportBuilder::command(LinePriority worth, std::string_view label,
                                const std::string& command) {
  const std::string shown = printable(command);
  add({.is = Is::command,
       .worth = worth,
       .text = std::string(label) + ": " + shown,
       .cells = {std::string(label), shown}});
}

void TextReportBuilder::code(LinePriority worth, std::string_view label, const std::string& text) {
  if (text.empty()) return;
  const std::string shown = printable(text);
  add({.is = Is::command,
       .worth = worth,
       .text = label.empty() ? "  " + wrapped(shown, style_.width - 2, 6)
                             : wrapped(std::string(label) + ": " + shown, style_.width, 2),
       .cells = {std::string(label), shown}});
}

void TextReportBuilder::table(LinePriority worth, const TextTable& table) {
  this->table(worth, table, {});
}

void TextReportBuilder::table(LinePriority header, const TextTable& table,
                              const std::vector<LinePriority>& row_priorities) {
  const TextTable::Shown shown = table.shown();
  std::vector<std::string> lines = table.lines(style_.width);
  auto line = lines.begin();
  if (!shown.header.empty())
    add({.is = Is::header,
         .worth = header,
         .text = std::move(*line++),
         .cells = shown.header,
         .alignment = shown.alignment});
  for (std::size_t row = 0; row < shown.rows.size(); ++row)
    add({.is = Is::row,
         .worth = row < row_priorities.size() ? row_priorities[row] : header,
         .text = std::move(*line++),
         .cells = shown.rows[row],
         .alignment = shown.alignment});
}

std::size_t TextReportBuilder::fit(std::size_t most) {
  std::size_t rows = this->rows();
  const std::size_t before = rows;
  while (rows > most) {
    const auto last =
        std::min_element(items_.rbegin(), items_.rend(),
                         [](const Item& a, const Item& b) { return a.worth < b.worth; });
    if (last == items_.rend() || last->worth == LinePriority::needed) break;
    rows -= last->rows;
    items_.erase(std::next(last).base());
  }
  return before - rows;
}

std::size_t TextReportBuilder::rows() const {
  std::size_t sum = 0;
  for (const Item& item : items_) sum += item.rows;
  return sum;
}

void TextReportBuilder::print(std::ostream& out) const {
  for (const Item& item : items_) {
    const bool is_coloured = style_.colour && item.is == Is::headline;
    if (is_coloured) out << tone_colour(item.tone);
    out << item.text << (is_coloured ? "\x1b[0m\n" : "\n");
  }
}

void print_fitting(std::ostream& out, TextReport reading, const ReportStyle& style) {
  TextReportBuilder hint(style);
  if (!style.verbose && reading.last.rows() + reading.body.rows() > kScreenRows) {
    hint.line(LinePriority::needed, reading.more);
    reading.body.fit(kScreenRows - std::min(kScreenRows, reading.last.rows() + hint.rows()));
  }
  reading.body.print(out);
  hint.print(out);
  reading.last.print(out);
}

void write_table(std::ostream& out, const AnyResult& result, const ReportStyle& style) {
  if (style.compact && result.answer) {
    Answer answer;
    result.answer(answer);
    return print_answer(out, answer, style);
  }
  TextReport reading(style);
  result.write_text(reading, style);
  print_fitting(out, std::move(reading), style);
}

}  // namespace loaderscope
