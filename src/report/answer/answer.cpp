#include "report/answer/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr int kLabelColumns = 7;
constexpr int kFiguresColumn = 48;   // minimum
constexpr int kMaxBarColumns = 50;   // one letter is 2 % of the window
constexpr double kSmallest = 0.005;  // share of the window; smaller bars are merged

std::string padded(std::string text, std::size_t columns) {
  const std::size_t has = count_columns(text);
  if (has < columns) text.append(columns - has, ' ');
  return text;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::vector<std::string> labelled(const AnswerLine& line, int width) {
  const std::string start =
      padded(line.label + ":", kLabelColumns) + (line.label.size() + 1 >= kLabelColumns ? " " : "");
  const std::string text = start + printable(line.text);
  std::vector<std::string> lines =
      line.is_command ? std::vector{text} : split_lines(wrapped(text, width, kLabelColumns));
  if (line.figures.empty()) return lines;
  const auto needed = static_cast<int>(count_columns(line.figures));
  const int column = std::min(kFiguresColumn, width - needed);
  const auto has = static_cast<int>(count_columns(lines.back()));
  if (has + 2 <= column)
    lines.back() = padded(lines.back(), static_cast<std::size_t>(column)) + line.figures;
  else if (has + 2 + needed <= width)
    lines.back() += "  " + line.figures;
  else
    lines.push_back(std::string(kLabelColumns, ' ') + line.figures);
  return lines;
}

// Leaves out the last words of a line that is too long. Keeps its indent.
std::string shortened(const std::string& line, int width) {
  if (count_columns(line) <= static_cast<std::size_t>(width)) return line;
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string cut = wrapped(line.substr(indent), width - 4 - static_cast<int>(indent), 0);
  return line.substr(0, indent) + cut.substr(0, cut.find('\n')) + " ...";
}

std::vector<std::string> bar_lines(const std::vector<AnswerBar>& bars, int width) {
  std::size_t name = 0, longest = 0;
  std::vector<std::string> shares, letters;
  for (const AnswerBar& bar : bars) {
    name = std::max(name, count_columns(bar.name));
    shares.push_back(fmt::format("{:.0f} %", 100 * bar.share));
    const double count = std::clamp(std::round(50 * bar.share), 0.0, double{kMaxBarColumns});
    letters.emplace_back(static_cast<std::size_t>(count), '#');
    if (!bar.remark.empty()) longest = std::max(longest, letters.back().size());
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    std::string line = fmt::format("  {}  {:>5}  {}", padded(printable(bars[i].name), name),
                                   shares[i], letters[i]);
    if (!bars[i].remark.empty()) {
      const std::size_t column = name + 11 + longest + 2;
      line = padded(std::move(line), column) + printable(bars[i].remark);
    }
    line = shortened(line, width);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

void append(std::vector<std::string>& to, std::vector<std::string> lines) {
  to.insert(to.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
}

void append_block(std::vector<std::string>& to, std::vector<std::string> lines) {
  if (lines.empty()) return;
  if (!to.empty()) to.emplace_back();
  append(to, std::move(lines));
}

std::vector<std::string> picture(const Answer& answer, int width) {
  if (!answer.bars.empty()) return bar_lines(answer.bars, width);
  if (answer.table.empty()) return {};
  std::vector<std::string> lines = answer.table.lines(width);
  for (std::string& line : lines) line = shortened(line, width);
  return lines;
}

std::vector<std::string> all_labelled(const std::vector<AnswerLine>& list, int width) {
  std::vector<std::string> lines;
  for (const AnswerLine& line : list) append(lines, labelled(line, width));
  return lines;
}

std::vector<std::string> rendered(const Answer& answer, int width) {
  std::vector<std::string> lines = split_lines(wrapped(printable(answer.headline), width, 0));
  const std::vector<std::string> drawn = picture(answer, width);
  if (answer.is_table_first) {
    append_block(lines, drawn);
    std::vector<std::string> rest = all_labelled(answer.first, width);
    append(rest, all_labelled(answer.last, width));
    append_block(lines, std::move(rest));
  } else {
    append(lines, all_labelled(answer.first, width));
    append_block(lines, drawn);
    append_block(lines, all_labelled(answer.last, width));
  }
  if (!answer.ending.empty()) {
    const std::string with = lines.back() + "    " + answer.ending;
    if (count_columns(with) <= static_cast<std::size_t>(width)) lines.back() = with;
  }
  return lines;
}

bool fits(const std::vector<std::string>& lines) {
  std::size_t figures = 0;
  for (const std::string& line : lines) figures += count_figures(line);
  return lines.size() <= kMaxAnswerLines && figures <= kMaxAnswerFigures;
}

// Returns the text without its last clause. Returns "" if `needed` letters would not be left.
std::string without_last_clause(const std::string& text, std::size_t needed) {
  for (const std::string_view between : {"; ", " (", ": ", ", "}) {
    const std::size_t at = text.rfind(between);
    if (at != text.npos && at >= std::max<std::size_t>(needed, 1)) return text.substr(0, at);
  }
  return "";
}

// The table without its last row.
TextTable shortened(const TextTable& table) {
  const TextTable::Shown shown = table.shown();
  TextTable shorter(shown.alignment, shown.header);
  for (std::size_t i = 0; i + 1 < shown.rows.size(); ++i) shorter.add(shown.rows[i]);
  return shorter;
}

std::vector<AnswerLine>::iterator find_label(std::vector<AnswerLine>& lines,
                                             std::string_view label) {
  const auto found = std::find_if(lines.rbegin(), lines.rend(),
                                  [&](const AnswerLine& line) { return line.label == label; });
  return found == lines.rend() ? lines.end() : std::prev(found.base());
}

// Leaves out the least important part. Returns false if nothing is left to leave out.
bool leave_something_out(Answer& answer) {
  for (std::vector<AnswerLine>* const lines : {&answer.last, &answer.first}) {
    if (const auto also = find_label(*lines, "Also"); also != lines->end()) {
      if (also->needed == also->text.size()) continue;
      also->text.resize(also->needed);
      if (also->text.empty()) lines->erase(also);
      return true;
    }
  }
  for (const std::string_view label : {"Why", "Fix"}) {
    const auto line = find_label(answer.first, label);
    if (line == answer.first.end() || line->is_command) continue;
    const bool is_long = labelled(*line, kMaxAnswerColumns).size() > (label == "Why" ? 1 : 2);
    std::string shorter = is_long ? without_last_clause(line->text, line->needed) : "";
    if (shorter.empty()) continue;
    line->text = std::move(shorter);
    return true;
  }
  if (const std::size_t bars = answer.bars.size(); bars > 3) {
    answer.bars = largest_bars(std::move(answer.bars), bars - 3);
    return true;
  }
  const TextTable::Shown shown = answer.table.shown();
  if (shown.rows.size() > 2) {
    answer.table = shortened(answer.table);
    return true;
  }
  if (const auto why = find_label(answer.first, "Why"); why != answer.first.end()) {
    answer.first.erase(why);
    return true;
  }
  return false;
}

}  // namespace

std::size_t count_figures(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) {
      ++i;
      continue;
    }
    ++count;
    const auto is_digit = [&](std::size_t at) {
      return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    while (is_digit(i) || ((text[i] == ',' || text[i] == '.') && is_digit(i + 1))) {
      ++i;
      if (i >= text.size()) break;
    }
  }
  return count;
}

std::vector<AnswerBar> largest_bars(std::vector<AnswerBar> bars, std::size_t causes) {
  std::vector<AnswerBar> kept;
  AnswerBar others;
  std::size_t count = 0;
  for (AnswerBar& bar : bars) {
    const bool is_rest = bar.name.ends_with(" others") || bar.name.ends_with(" other");
    const bool is_kept =
        kept.empty() || (!is_rest && kept.size() <= causes && bar.share >= kSmallest);
    if (is_kept) {
      kept.push_back(std::move(bar));
      continue;
    }
    others.share += bar.share;
    count += is_rest ? static_cast<std::size_t>(std::atoi(bar.name.c_str())) : 1;
  }
  if (others.share < kSmallest) return kept;
  others.name = fmt::format("{} {}", count, count == 1 ? "other" : "others");
  kept.push_back(std::move(others));
  return kept;
}

std::vector<std::string> answer_lines(const Answer& answer, int width) {
  const int columns = std::min(width, kMaxAnswerColumns);
  Answer shorter = answer;
  std::vector<std::string> lines = rendered(shorter, columns);
  while (!fits(lines) && leave_something_out(shorter)) lines = rendered(shorter, columns);
  return lines;
}

void print_answer(std::ostream& out, const Answer& answer, const ReportStyle& style) {
  const std::vector<std::string> lines = answer_lines(answer, style.width);
  const std::size_t first =
      split_lines(wrapped(printable(answer.headline), std::min(style.width, kMaxAnswerColumns), 0))
          .size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_coloured = style.colour && i < first;
    if (is_coloured) out << tone_colour(answer.tone);
    out << lines[i] << (is_coloured ? "\x1b[0m\n" : "\n");
  }
}

}  // namespace loaderscope
