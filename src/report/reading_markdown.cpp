// Text of a result of any kind, as Markdown.
#include <fmt/format.h>

#include "report/markup.h"
#include "report/text_report.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

constexpr int kUnbrokenLine = 1 << 20;  // columns: who shows it breaks lines

std::string table_row(const TextReportBuilder::Item& item) {
  std::string text = "|";
  for (const std::string& cell : item.cells) text += " " + in_markdown(cell) + " |";
  return text + "\n";
}

std::string rule_below(const TextReportBuilder::Item& header) {
  std::string text = "|";
  for (std::size_t c = 0; c < header.cells.size(); ++c)
    text += header.alignment[c] == 'r' ? "---:|" : "---|";
  return text + "\n";
}

// A table needs a header.
TextReportBuilder::Item without_words(TextReportBuilder::Item row) {
  for (std::string& cell : row.cells) cell.clear();
  return row;
}

std::string command_block(const TextReportBuilder::Item& item) {
  const std::string label = item.cells[0].empty() ? "" : in_markdown(item.cells[0]) + ":\n";
  return label + shell_block(item.cells[1]) + "\n";
}

std::string markdown_of(const std::vector<TextReportBuilder::Item>& items) {
  std::string text;
  bool in_table = false;
  for (const TextReportBuilder::Item& item : items) {
    const bool is_header = item.is == TextReportBuilder::Is::header,
               is_row = item.is == TextReportBuilder::Is::row;
    if (in_table && !is_row) text += "\n";
    if (is_header) text += table_row(item) + rule_below(item);
    if (is_row && !in_table) {
      const TextReportBuilder::Item header = without_words(item);
      text += table_row(header) + rule_below(header);
    }
    in_table = is_header || is_row;
    if (is_row) text += table_row(item);
    if (item.is == TextReportBuilder::Is::headline)
      text += "**" + in_markdown(item.text) + "**\n\n";
    if (item.is == TextReportBuilder::Is::text) text += in_markdown(item.text) + "\n\n";
    if (item.is == TextReportBuilder::Is::command) text += command_block(item);
  }
  return text + (in_table ? "\n" : "");
}

}  // namespace

void write_reading_markdown(std::ostream& out, const AnyResult& result) {
  const ReportStyle style{.width = kUnbrokenLine, .drawn = true};
  TextReport reading(style);
  result.tell(reading, style);
  out << markdown_of(reading.body.items()) << markdown_of(reading.last.items())
      << fmt::format("- loaderscope {}, {}\n", in_markdown(result.tool_version), result.kind);
}

}  // namespace loaderscope
