#include "report/markup.h"

#include <algorithm>

#include "base/printable.h"

namespace loaderscope {
namespace {

// Longer than any row of backquotes within.
std::string fence_around(std::string_view text, std::string fence) {
  while (text.find(fence) != text.npos) fence += '`';
  return fence;
}

// An address, a user, an issue. No escape keeps a site from them, as it looks for them in the text
// that it has made of the Markdown.
bool would_link(std::string_view word) {
  constexpr std::string_view kMarks[] = {"@", "#", "://", "www."};
  return std::any_of(std::begin(kMarks), std::end(kMarks),
                     [&](std::string_view mark) { return word.find(mark) != word.npos; });
}

std::string escaped(std::string_view word) {
  std::string result;
  for (const char c : word) {
    if (std::string_view("\\`*_[]<>~").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  const std::string shown = printable(text);
  std::string_view rest = shown;
  std::string result;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find_first_of(" |"));
    result += would_link(word) ? code_span(word) : escaped(word);
    rest.remove_prefix(word.size());
    if (rest.empty()) break;
    result += rest.front() == '|' ? "\\|" : " ";
    rest.remove_prefix(1);
  }
  return result;
}

std::string code_span(std::string_view text) {
  if (text.empty()) return "";
  const std::string shown = printable(text);
  const std::string fence = fence_around(shown, "`");
  const char* const pad = shown.front() == '`' || shown.back() == '`' ? " " : "";
  return fence + pad + shown + pad + fence;
}

std::string shell_block(std::string_view text) {
  const std::string shown = printable(text);
  const std::string fence = fence_around(shown, "```");
  return fence + "sh\n" + shown + "\n" + fence + "\n";
}

std::string table_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + markdown_text(cell) + " |";
  return row + "\n";
}

void MarkdownPage::raw(std::string_view markdown) {
  if (markdown.size() > room_ - std::min(room_, text_.size()))
    has_left_out_ = true;
  else
    text_ += markdown;
}

void MarkdownPage::table(std::string_view alignment, const std::vector<std::string>& header,
                         const std::vector<std::vector<std::string>>& rows) {
  std::string text = table_row(header) + "|";
  for (const char column : alignment) text += column == 'r' ? "---:|" : "---|";
  text += "\n";
  for (const std::vector<std::string>& row : rows) text += table_row(row);
  raw(text + "\n");
}

}  // namespace loaderscope
