// A result as Markdown: its text, unless its kind has a summary of its own.
#include "report/markup.h"
#include "report/schemas.h"
#include "report/text_report.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

constexpr int kUnbrokenLine = 1 << 20;  // columns: who shows it breaks lines

using MarkdownItem = std::vector<TextReportBuilder::Item>::const_iterator;

// Adds the table that begins with `item`. Returns its end.
MarkdownItem add_table(MarkdownPage& page, MarkdownItem item, MarkdownItem end) {
  const std::string alignment = item->alignment;
  std::vector<std::string> header(item->cells.size());  // a table needs one
  if (item->is == TextReportBuilder::Is::header) header = (item++)->cells;
  std::vector<std::vector<std::string>> rows;
  for (; item != end && item->is == TextReportBuilder::Is::row; ++item) rows.push_back(item->cells);
  page.table(alignment, header, rows);
  return item;
}

void add_parts(MarkdownPage& page, const std::vector<TextReportBuilder::Item>& items) {
  for (MarkdownItem item = items.begin(); item != items.end();) {
    if (item->is == TextReportBuilder::Is::header || item->is == TextReportBuilder::Is::row) {
      item = add_table(page, item, items.end());
      continue;
    }
    if (item->is == TextReportBuilder::Is::headline) page.headline(item->text);
    if (item->is == TextReportBuilder::Is::text) page.paragraph(item->text);
    if (item->is == TextReportBuilder::Is::command) {
      page.command(item->cells[0], item->cells[1]);
      page.raw("\n");
    }
    ++item;
  }
}

void add_reading(MarkdownPage& page, const AnyResult& result) {
  const ReportStyle style{.width = kUnbrokenLine, .drawn = true};
  TextReport reading(style);
  result.write_text(reading, style);
  add_parts(page, reading.body.items());
  add_parts(page, reading.last.items());
  page.signature(result.tool_version, result.kind);
}

}  // namespace

void write_markdown(std::ostream& out, const AnyResult& result) {
  const auto summary = find_row(result.kind, result_kinds()).own.markdown;
  MarkdownPage page;
  (summary != nullptr ? summary : add_reading)(page, result);
  out << page.text();
}

}  // namespace loaderscope
