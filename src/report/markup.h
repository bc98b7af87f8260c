// Markdown, and text of others within it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope {

// Escapes text, so that a path or a note cannot add markup, or control a terminal. Words that a
// site would turn into a link or a user's name become code.
std::string markdown_text(std::string_view text);

// Returns code within a line; "" for "". The content cannot end it. Not for cells, which a "|"
// ends.
std::string code_span(std::string_view text);

// Returns lines of a shell as a code block. The content cannot end it.
std::string shell_block(std::string_view text);

// Returns a row of a table: "| a | b |" and the end of the line.
std::string table_row(const std::vector<std::string>& cells);

// A page of Markdown. An empty paragraph, quote or item adds nothing.
class MarkdownPage {
 public:
  void raw(std::string_view markdown);
  void headline(std::string_view text) { raw("**" + markdown_text(text) + "**\n\n"); }
  void paragraph(std::string_view text) {
    if (!text.empty()) raw(markdown_text(text) + "\n\n");
  }
  void quote(const std::string& label, std::string_view code) {
    if (!code.empty()) raw(label + code_span(code) + "\n\n");
  }
  void item(std::string_view text, const std::string& label = "") {
    if (!text.empty()) raw("- " + label + markdown_text(text) + "\n");
  }
  // `alignment`: a letter for each column, as in TextTable.
  void table(std::string_view alignment, const std::vector<std::string>& header,
             const std::vector<std::vector<std::string>>& rows);
  // A label may be "".
  void command(std::string_view label, std::string_view command) {
    raw((label.empty() ? "" : markdown_text(label) + ":\n") + shell_block(command));
  }
  void signature(std::string_view tool_version, std::string_view maker) {
    raw("- loaderscope " + markdown_text(tool_version) + ", " + markdown_text(maker) + "\n");
  }

  // Leaves out parts that would make the page longer than `room` bytes.
  void limit(std::size_t room) { room_ = room; }
  std::string text() const {
    return text_ +
           (has_left_out_ ? "The JSON has the parts that are too long for a comment.\n" : "");
  }

 private:
  std::size_t room_ = std::string::npos;
  std::string text_;
  bool has_left_out_ = false;
};

}  // namespace loaderscope
