// Text of a result for people: lines, tables and commands, the best first. It fits a screen on a
// terminal, and leaves out what matters least. A page shows all of it.
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

// Priority of a line. Lines with a low priority are left out first; `needed` always stays.
enum class LinePriority : std::uint8_t { beside, detail, basis, evidence, advice, needed };

enum class LineTone : std::uint8_t { plain, good, warning, bad };  // tone of a headline

std::string_view tone_colour(LineTone tone);  // the escape sequence of a terminal

class TextReportBuilder {
 public:
  explicit TextReportBuilder(const ReportStyle& style) : style_(style) {}

  // Adds a wrapped line; control characters are spelled out. Adds nothing for "".
  // `place` is the picture of a page that shows it.
  void line(LinePriority worth, const std::string& text, std::string place = {});
  // Adds a remark on the answer as an item of a list.
  void note(LinePriority worth, const std::string& text) { line(worth, "- " + text); }
  // Adds unchanged text, which must not be broken.
  void raw(LinePriority worth, std::string text);
  // Never left out, in colour where the style has it; the first one is never broken.
  void headline(const std::string& text, LineTone tone);
  void wrapped_headline(const std::string& text, LineTone tone);
  // Adds a command to run: "Next: loaderscope tune --from r.json". Never broken.
  void command(LinePriority worth, std::string_view label, const std::string& command);
  // Adds code to copy into a program, broken if it is too long. A label may be "".
  void code(LinePriority worth, std::string_view label, const std::string& text);
  void table(LinePriority worth, const TextTable& table);
  void table(LinePriority header, const TextTable& table,
             const std::vector<LinePriority>& row_priorities);

  // Leaves out what matters least, the last of it first, until at most `rows` rows are left.
  // Returns how many rows that were.
  std::size_t fit(std::size_t rows);
  std::size_t rows() const;  // rows on a terminal of the style's width
  void print(std::ostream& out) const;

  enum class Is : std::uint8_t { text, headline, command, header, row };
  struct Item {
    Is is = Is::text;
    LinePriority worth = LinePriority::beside;
    std::string text{};  // text for a terminal, with line feeds
    std::size_t rows = 0;
    LineTone tone = LineTone::plain;  // tone of a headline
    std::vector<std::string>
        cells{};              // cells of a header or a row; label (or "") and text of a command
    std::string alignment{};  // alignment of the cells: 'l', 'r' or 'w'; see TextTable
    std::string place{};      // picture that shows the text; "": none
  };
  const std::vector<Item>& items() const { return items_; }

 private:
  void add(Item item);

  ReportStyle style_;
  std::vector<Item> items_;
};

// Text of a result: `last` closes it and is never cut. `more` is between them if something was left
// out.
struct TextReport {
  explicit TextReport(const ReportStyle& style) : body(style), last(style) {}

  TextReportBuilder body, last;
  std::string more;
};

// The body is cut to a screen unless the style is verbose.
void print_fitting(std::ostream& out, TextReport reading, const ReportStyle& style);

}  // namespace loaderscope
