// The default answer: at most twelve lines that say who waits, what to change and what it gains.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/report.h"
#include "report/text_report.h"
#include "report/text_table.h"

namespace loaderscope {

inline constexpr std::size_t kMaxAnswerLines = 12;
inline constexpr std::size_t kMaxAnswerFigures = 25;
inline constexpr int kMaxAnswerColumns = 80;

// "Fix:   DataLoader(..., num_workers=2)           909 -> about 1,250 samples/s"
struct AnswerLine {
  std::string label;  // Wrong data, Fix, Next, Why, Also or More
  std::string text;
  std::string figures{};    // right-aligned column of numbers
  bool is_command = false;  // to paste: never broken, even if it is wider than the page
  std::size_t needed = 0;   // letters at the begin that are never left out
};

// One part of the window: "decode    33 %  ################  Image.open".
struct AnswerBar {
  std::string name;
  double share = 0;
  std::string remark{};
};

struct Answer {
  std::string headline;
  LineTone tone = LineTone::plain;
  std::vector<AnswerLine> first;    // lines before the picture: the fix and its reason
  std::vector<AnswerBar> bars;      // the first three causes count; others become one bar
  TextTable table = TextTable("");  // table that replaces the bars
  bool is_table_first = false;      // a comparison shows its numbers first
  std::vector<AnswerLine> last;     // other actions, and where to read more
  std::string ending{};             // end of the last line: "(simulated GPU)" if line 1 has no room
};

// Returns printable lines without line feeds. Leaves out the least important lines until the answer
// fits in kMaxAnswerLines and kMaxAnswerFigures: first "Also", then rows of the table, then the
// second sentence of "Why".
std::vector<std::string> answer_lines(const Answer& answer, int width = kMaxAnswerColumns);
void print_answer(std::ostream& out, const Answer& answer, const ReportStyle& style);

// Figures in a text: runs of digits with their separators, such as 1,250 or 0.8.
std::size_t count_figures(std::string_view text);

// The bars of an answer: compute, at most three causes, and the rest as one bar.
std::vector<AnswerBar> largest_bars(std::vector<AnswerBar> bars, std::size_t causes = 3);

}  // namespace loaderscope
