// A result as a page: the answer, its pictures, then all that a terminal shows with --verbose, and
// the result itself.
#include <fmt/format.h>

#include <sstream>
#include <utility>
#include <vector>

#include "analysis/wording.h"
#include "loaderscope/settings.h"
#include "page/escape.h"
#include "page/sheet.h"
#include "report/page_text.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

using Items = std::vector<Screen::Item>;

constexpr std::size_t kLongestJson = 600 << 10;  // a page has at most 1 MiB
constexpr int kUnbroken = 1 << 20;               // columns: the reader's browser breaks lines

// The answer and what to do: all before the evidence.
std::size_t end_of_answer(const Items& items) {
  std::size_t end = 0;
  while (end < items.size() && items[end].worth >= Worth::advice &&
         items[end].is != Screen::Is::header && items[end].is != Screen::Is::row)
    ++end;
  return end;
}

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string two_columns(std::string_view title, const Rows& rows) {
  std::string text = fmt::format("<h2>{}</h2>\n<div class=\"wide\"><table>\n", in_xml(title));
  for (const auto& [name, value] : rows) {
    if (!value.empty())
      text += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", in_xml(name),
                          in_xml(value));
  }
  return text + "</table></div>\n";
}

// What a run was made on, and what its user asked for.
std::string circumstances_of(const RunRecord& record) {
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
       {"usable", machine.cores > 0 ? show_cores(machine.cores) : ""},
       {"memory",
        machine.memory_bytes > 0 ? show_size(static_cast<double>(machine.memory_bytes)) : ""},
       {"GPU", machine.gpus.value_or("")},
       {"its driver", machine.gpu_driver.value_or("")},
       {"system", machine.os},
       {"kernel", machine.kernel},
       {"engine", record.engine}});
  if (!settings.empty()) text += two_columns("The settings that were given", settings);
  return text + "</section>\n";
}

std::string json_of(const AnyResult& result) {
  std::ostringstream json;
  write_json(json, result.record ? answer_of(*result.record, *result.analysis) : result);
  return std::move(json).str();
}

std::string json_note(const AnyResult& result, std::size_t bytes) {
  if (bytes > kLongestJson)
    return fmt::format(
        "<p class=\"made\">The result has {} and is not carried here; --json FILE "
        "saves it.</p>\n",
        show_size(static_cast<double>(bytes)));
  if (result.record == nullptr) return "";
  return "<p class=\"made\">Below it stands without its steps, samples and exemplars, which --json "
         "FILE saves.</p>\n";
}

}  // namespace

void write_page(std::ostream& out, const AnyResult& result) {
  const ReportStyle style{.width = kUnbroken, .verbose = true, .drawn = true};
  Reading reading(style);
  result.tell(reading, style);
  const Items &body = reading.body.items(), &last = reading.last.items();
  const std::size_t answer = end_of_answer(body);
  const std::string pictures = result.draw();
  page::Sheet sheet;
  sheet.title = fmt::format("loaderscope {}: {}", result.kind, body.empty() ? "" : body[0].text);
  sheet.json = json_of(result);
  PageWords words;
  sheet.body = fmt::format("<p class=\"made\">loaderscope {} {}</p>\n", result.kind,
                           in_xml(result.tool_version));
  sheet.body += html_of(body, 0, answer, pictures, words);
  sheet.body += html_of(last, 0, last.size(), pictures, words);
  sheet.body += pictures + "<section>\n<h2>In words and numbers</h2>\n";
  sheet.body += html_of(body, answer, body.size(), pictures, words) + "</section>\n";
  sheet.body += words.section() + (result.record ? circumstances_of(*result.record) : "") +
                json_note(result, sheet.json.size());
  if (sheet.json.size() > kLongestJson) sheet.json.clear();
  page::write_sheet(out, sheet);
}

}  // namespace loaderscope
