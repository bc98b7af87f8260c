#include "report/page_text.h"

#include <fmt/format.h>

#include <string_view>

#include "page/escape.h"

namespace loaderscope {
namespace {

std::string_view class_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "good";
    case Tone::warning:
      return "warning";
    case Tone::bad:
      return "bad";
    case Tone::plain:
      break;
  }
  return "plain";
}

// "Fix: num-workers=4": the word before the colon, where it is one.
std::size_t end_of_label(std::string_view text) {
  constexpr std::size_t kLongest = 12;
  const auto colon = text.find(": ");
  if (colon == text.npos || colon > kLongest || text.substr(0, colon).find(' ') != text.npos)
    return 0;
  return colon + 1;
}

// A number and its % stay on one line.
std::string prose(std::string_view text, PageWords& words, bool is_of_whys = false) {
  std::string result = words.in_prose(text, is_of_whys);
  for (auto at = result.find(" %"); at != result.npos; at = result.find(" %", at))
    result.replace(at, 1, "&nbsp;");
  return result;
}

// With a way to the picture that shows it, where that is drawn.
std::string paragraph(const std::string& text, const std::string& place,
                      const std::string& pictures, PageWords& words) {
  const std::size_t label = end_of_label(text);
  const bool is_drawn = !place.empty() && pictures.find("id=\"" + place + "\"") != pictures.npos;
  const std::string link =
      is_drawn ? fmt::format(" <a href=\"#{}\">see its worst stall</a>", in_xml(place)) : "";
  return fmt::format("<p>{}{}{}{}{}</p>\n", label > 0 ? "<b>" : "",
                     prose(text.substr(0, label), words), label > 0 ? "</b>" : "",
                     prose(text.substr(label), words, text.starts_with("why: ")), link);
}

std::string command(const Screen::Item& item) {
  const std::string label =
      item.cells[0].empty() ? "" : fmt::format("<p><b>{}:</b></p>\n", in_xml(item.cells[0]));
  return label + fmt::format("<div class=\"copied\"><pre>{}</pre></div>\n", in_xml(item.cells[1]));
}

std::string row(const Screen::Item& item, std::string_view cell, PageWords& words) {
  std::string text = "<tr>";
  for (std::size_t c = 0; c < item.cells.size(); ++c) {
    const bool right = item.alignment[c] == 'r';
    text += fmt::format("<{0}{1}>{2}</{0}>", cell, right ? " class=\"r\"" : "",
                        c == 0 ? words.in_cell(item.cells[c]) : in_xml(item.cells[c]));
  }
  return text + "</tr>\n";
}

}  // namespace

std::string html_of(const std::vector<Screen::Item>& items, std::size_t first, std::size_t end,
                    const std::string& pictures, PageWords& words) {
  std::string text;
  bool in_table = false;
  for (std::size_t i = first; i < end; ++i) {
    const Screen::Item& item = items[i];
    const bool is_row = item.is == Screen::Is::row || item.is == Screen::Is::header;
    if (in_table && (!is_row || item.is == Screen::Is::header)) {
      text += "</table></div>\n";
      in_table = false;
    }
    if (is_row && !in_table) text += "<div class=\"wide\"><table>\n";
    in_table = is_row;
    if (item.is == Screen::Is::header) text += row(item, "th", words);
    if (item.is == Screen::Is::row) text += row(item, "td", words);
    if (item.is == Screen::Is::command) text += command(item);
    if (item.is == Screen::Is::text) text += paragraph(item.text, item.place, pictures, words);
    if (item.is == Screen::Is::headline)
      text +=
          fmt::format("<h1 class=\"{}\">{}</h1>\n", class_of(item.tone), prose(item.text, words));
  }
  return text + (in_table ? "</table></div>\n" : "");
}

}  // namespace loaderscope
