// A result as a page: the default answer, its pictures, and one line that opens all details of -vv
// and the result itself.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/wording.h"
#include "loaderscope/settings.h"
#include "page/escape.h"
#include "page/html_page.h"
#include "report/answer/answer_html.h"
#include "report/glossary_links.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/table_parts.h"
#include "report/text_report.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

// "Fix: num-workers=4": the word before the colon, where it is one.
std::size_t end_of_label(std::string_view text) {
  constexpr std::size_t kMaxLength = 12;
  const auto colon = text.find(": ");
  if (colon == text.npos || colon > kMaxLength || text.substr(0, colon).find(' ') != text.npos)
    return 0;
  return colon + 1;
}

// With a way to the picture that shows it, where that is drawn.
std::string paragraph(const std::string& text, const std::string& place,
                      const std::string& pictures, GlossaryLinks& words) {
  const std::size_t label = end_of_label(text);
  const bool is_drawn = !place.empty() && pictures.find("id=\"" + place + "\"") != pictures.npos;
  const std::string link =
      is_drawn ? fmt::format(" <a href=\"#{}\">see its worst stall</a>", escape_xml(place)) : "";
  return fmt::format("<p>{}{}{}{}{}</p>\n", label > 0 ? "<b>" : "",
                     page_prose(text.substr(0, label), words), label > 0 ? "</b>" : "",
                     page_prose(text.substr(label), words, text.starts_with(kWhyLineBegin)), link);
}

std::string command(const TextReportBuilder::Item& item) {
  const std::string label =
      item.cells[0].empty() ? "" : fmt::format("<p><b>{}:</b></p>\n", escape_xml(item.cells[0]));
  return label +
         fmt::format("<div class=\"copied\"><pre>{}</pre></div>\n", escape_xml(item.cells[1]));
}

std::string row(const TextReportBuilder::Item& item, std::string_view cell, GlossaryLinks& words) {
  std::string text = "<tr>";
  for (std::size_t c = 0; c < item.cells.size(); ++c) {
    const bool right = item.alignment[c] == 'r';
    text += fmt::format("<{0}{1}>{2}</{0}>", cell, right ? " class=\"r\"" : "",
                        c == 0 ? words.link_cell(item.cells[c]) : escape_xml(item.cells[c]));
  }
  return text + "</tr>\n";
}

// Returns the items from `first` until `end` as HTML. Consecutive rows are one table, and a header
// begins the next table. `pictures` are the pictures of the page, which lines link to. Words link
// to their meaning.
std::string items_html(const std::vector<TextReportBuilder::Item>& items, std::size_t first,
                       std::size_t end, const std::string& pictures, GlossaryLinks& words) {
  std::string text;
  bool is_table = false;
  for (std::size_t i = first; i < end; ++i) {
    const TextReportBuilder::Item& item = items[i];
    const bool is_row =
        item.is == TextReportBuilder::Is::row || item.is == TextReportBuilder::Is::header;
    if (is_table && (!is_row || item.is == TextReportBuilder::Is::header)) {
      text += "</table></div>\n";
      is_table = false;
    }
    if (is_row && !is_table) text += "<div class=\"wide\"><table>\n";
    is_table = is_row;
    if (item.is == TextReportBuilder::Is::header) text += row(item, "th", words);
    if (item.is == TextReportBuilder::Is::row) text += row(item, "td", words);
    if (item.is == TextReportBuilder::Is::command) text += command(item);
    if (item.is == TextReportBuilder::Is::text)
      text += paragraph(item.text, item.place, pictures, words);
    if (item.is == TextReportBuilder::Is::headline)
      text += fmt::format("<h1 class=\"{}\">{}</h1>\n", tone_class(item.tone),
                          page_prose(item.text, words));
  }
  return text + (is_table ? "</table></div>\n" : "");
}

using Items = std::vector<TextReportBuilder::Item>;

constexpr std::size_t kMaxJson = 600 << 10;  // a page has at most 1 MiB
constexpr int kUnbroken = 1 << 20;           // columns: the reader's browser breaks lines

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string two_columns(std::string_view title, const Rows& rows) {
  std::string text = fmt::format("<h2>{}</h2>\n<div class=\"wide\"><table>\n", escape_xml(title));
  for (const auto& [name, value] : rows) {
    if (!value.empty())
      text += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape_xml(name),
                          escape_xml(value));
  }
  return text + "</table></div>\n";
}

}  // namespace

// Returns the machine of a run and the settings of its user.
std::string circumstances_of_run(const AnyResult& result) {
  const RunRecord& record = *result.record;
  const MachineFacts& machine = record.machine;
  Rows settings;
  for (const Field& field : fields()) {
    if (field.given(record.config) && !field.is_about(about::kSaved))
      settings.emplace_back(field.name,
                            fmt::format("{}", fmt::join(field.texts(record.config), " ")));
  }
  std::string text = "<section>\n";
  text += two_columns(
      "The machine",
      {{"host", machine.host.value_or("")},
       {"CPU", machine.cpu},
       {"usable", machine.cores > 0 ? format_cores(machine.cores) : ""},
       {"memory",
        machine.memory_bytes > 0 ? format_size(static_cast<double>(machine.memory_bytes)) : ""},
       {"GPU", machine.gpus.value_or("")},
       {"its driver", machine.gpu_driver.value_or("")},
       {"system", machine.os},
       {"kernel", machine.kernel},
       {"engine", record.engine}});
  if (!settings.empty()) text += two_columns("The settings that were given", settings);
  return text + "</section>\n";
}

namespace {

std::string result_json(const AnyResult& result) {
  std::ostringstream json;
  write_json(json, default_answer(result));
  return std::move(json).str();
}

std::string json_note(const ResultKind& kind, std::size_t bytes) {
  if (bytes > kMaxJson)
    return fmt::format(
        "<p class=\"made\">The result has {} and is not carried here; --json FILE "
        "saves it.</p>\n",
        format_size(static_cast<double>(bytes)));
  if (kind.own.shortened == nullptr) return "";
  return "<p class=\"made\">The result has no steps, samples and exemplars here; --json FILE saves "
         "them.</p>\n";
}

// All that a terminal shows with -vv. A browser opens it when the reader asks for it.
std::string details_html(const TextReport& reading, const AnyResult& result,
                         const std::string& pictures, GlossaryLinks& words, std::size_t bytes) {
  const Items &body = reading.body.items(), &last = reading.last.items();
  std::string text =
      "<details class=\"all\">\n<summary>All figures, words, settings and the "
      "result</summary>\n<section>\n";
  text += items_html(body, 0, body.size(), pictures, words) +
          items_html(last, 0, last.size(), pictures, words) + "</section>\n";
  text += words.section();
  const ResultKind& kind = find_row(result.kind, result_kinds());
  if (kind.own.circumstances != nullptr) text += kind.own.circumstances(result);
  // The script fills the tree.
  return text + "<section>\n" + json_note(kind, bytes) +
         "<div id=\"tree\"></div>\n</section></details>\n";
}

}  // namespace

void write_page(std::ostream& out, const AnyResult& result) {
  const ReportStyle style{.width = kUnbroken, .verbose = true, .drawn = true};
  TextReport reading(style);
  result.write_text(reading, style);
  Answer answer;
  if (result.answer) result.answer(answer);
  const std::string pictures = result.draw();
  page::Sheet sheet;
  sheet.title = fmt::format("loaderscope {}: {}", result.kind, answer.headline);
  sheet.json = result_json(result);
  GlossaryLinks words;
  sheet.body = fmt::format("<p class=\"made\">loaderscope {} {}</p>\n", result.kind,
                           escape_xml(result.tool_version));
  const std::string picture =
      result.record ? draw_run_in_short(*result.record, *result.analysis, pictures) : "";
  sheet.body += html_of_answer(answer, picture, words) + pictures +
                details_html(reading, result, pictures, words, sheet.json.size());
  if (sheet.json.size() > kMaxJson) sheet.json.clear();
  page::write_sheet(out, sheet);
}

}  // namespace loaderscope
