// What people read of a result: lines, tables and commands, the best first. On a terminal it fits a
// screen: where there is too much, what matters least is left out. A page shows all of it.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/report.h"
#include "report/text_table.h"

namespace loaderscope {

inline constexpr std::size_t kScreenRows = 28;

// What goes first where the lines are too many. `needed` never goes.
enum class LinePriority : std::uint8_t { beside, detail, basis, evidence, advice, needed };

enum class LineTone : std::uint8_t { plain, good, warning, bad };  // of a headline

std::string_view colour_of(LineTone tone);  // the escape sequence of a terminal

class TextReportBuilder {
 public:
  explicit TextReportBuilder(const ReportStyle& style) : style_(style) {}

  // Wrapped to the width; control characters are spelled. "" is no line.
  // `place`: of a picture of a page that shows it.
  void line(LinePriority worth, const std::string& text, std::string place = {});
  // As it stands: what may not be broken.
  void raw(LinePriority worth, std::string text);
  // Never left out, in colour where the style has it; the first one is never broken.
  void headline(const std::string& text, LineTone tone);
  void wrapped_headline(const std::string& text, LineTone tone);
  // To be run: "next: loaderscope tune --from r.json". Never broken.
  void command(LinePriority worth, std::string_view label, const std::string& command);
  // To be copied into a program; broken where it is too long. A label may be "".
  void code(LinePriority worth, std::string_view label, const std::string& text);
  void table(LinePriority worth, const TextTable& table);
  void table(LinePriority header, const TextTable& table, const std::vector<LinePriority>& of_rows);

  // Leaves out what matters least, the last of it first, until at most `rows` rows are left.
  // Returns how many rows that were.
  std::size_t fit(std::size_t rows);
  std::size_t rows() const;  // on a terminal of the style's width
  void print(std::ostream& out) const;

  enum class Is : std::uint8_t { text, headline, command, header, row };
  struct Item {
    Is is = Is::text;
    LinePriority worth = LinePriority::beside;
    std::string text{};  // as a terminal shows it, with line feeds within
    std::size_t rows = 0;
    LineTone tone = LineTone::plain;  // of a headline
    std::vector<std::string>
        cells{};              // of a header and a row; of a command its label, or "", and itself
    std::string alignment{};  // of the cells: 'l', 'r' or 'w'; see TextTable
    std::string place{};      // of a text: the picture that shows it; "": none
  };
  const std::vector<Item>& items() const { return items_; }

 private:
  void add(Item item);

  ReportStyle style_;
  std::vector<Item> items_;
};

// A result as it is read: `last` closes it and is always there; `more` stands between them where
// something was left out.
struct TextReport {
  explicit TextReport(const ReportStyle& style) : body(style), last(style) {}

  TextReportBuilder body, last;
  std::string more;
};

// The body is cut to a screen unless the style is verbose.
void print_fitting(std::ostream& out, TextReport reading, const ReportStyle& style);

}  // namespace loaderscope
