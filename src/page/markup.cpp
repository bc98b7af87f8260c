#include "page/markup.h"

#include <fmt/format.h>

#include "page/escape.h"

namespace loaderscope::page {

namespace {

std::string with_value(const Figure& figure, const std::string& text) {
  if (figure.path.empty()) return in_xml(text);
  return fmt::format("<data value=\"{:.9f}\" data-path=\"{}\">{}</data>", figure.value,
                     in_xml(figure.path), in_xml(text));
}

}  // namespace

std::string framed(std::string_view title, std::string_view note, const std::string& picture,
                   const std::string& below, const std::vector<std::string>& places) {
  std::string text;
  for (std::size_t i = 1; i < places.size(); ++i)
    text += fmt::format("<span id=\"{}\"></span>", in_xml(places[i]));
  const std::string id =
      places.empty() ? "" : fmt::format(" id=\"{}\" tabindex=\"-1\"", in_xml(places[0]));
  text += fmt::format("<figure{}>\n<figcaption><h2>{}</h2>", id, in_xml(title));
  if (!note.empty()) text += fmt::format("<p>{}</p>", in_xml(note));
  return text + "</figcaption>\n" + picture + "\n" + below + "</figure>\n";
}

std::string legend_of(const std::vector<LegendEntry>& entries) {
  std::string text = "<ul class=\"legend\">\n";
  for (const LegendEntry& entry : entries) {
    const std::string name = in_xml(entry.name);
    text += fmt::format("<li><i class=\"k-{}\"></i>{}", in_xml(entry.kind),
                        entry.place.empty()
                            ? name
                            : fmt::format("<a href=\"#{}\">{}</a>", in_xml(entry.place), name));
    if (!entry.figure.path.empty()) {
      text += " " + with_value(entry.figure, entry.text);
    } else if (!entry.text.empty()) {
      text += fmt::format(" <b>{}</b>", in_xml(entry.text));
    }
    if (!entry.remark.empty()) text += fmt::format(" <small>{}</small>", in_xml(entry.remark));
    text += "</li>\n";
  }
  return text + "</ul>\n";
}

std::string drawn(const std::vector<Tile>& tiles) {
  std::string text = "<dl class=\"tiles\">\n";
  for (const Tile& tile : tiles) {
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", in_xml(tile.name),
                        with_value(tile.figure, tile.text));
  }
  return text + "</dl>\n";
}

std::string number_table(const std::vector<std::string>& header,
                         const std::vector<std::vector<Cell>>& rows) {
  if (rows.empty()) return "";
  std::string text = "<details><summary>as a table</summary><div class=\"wide\"><table>\n";
  if (!header.empty()) text += "<tr>";
  for (const std::string& cell : header)
    text += fmt::format("<th scope=\"col\">{}</th>", in_xml(cell));
  if (!header.empty()) text += "</tr>\n";
  for (const auto& row : rows) {
    text += "<tr>";
    for (const Cell& cell : row)
      text += fmt::format("<td>{}</td>", with_value(cell.figure, cell.text));
    text += "</tr>\n";
  }
  return text + "</table></div></details>\n";
}

std::string drawn(const Boxes& boxes) {
  if (boxes.boxes.empty()) return "";
  std::string text = "<div class=\"boxes\">\n";
  for (const Box& box : boxes.boxes) {
    text += fmt::format("<div><h3>{}</h3>\n", in_xml(box.title));
    for (const std::string& line : box.lines) text += fmt::format("<p>{}</p>\n", in_xml(line));
    text += "</div>\n";
  }
  return framed(boxes.title, boxes.note, text + "</div>", "");
}

std::string percent(double share) { return fmt::format("{:.2f}%", 100 * share); }

std::string zoomable(std::string_view title, const Scale& x, double height,
                     const std::string& behind, const std::string& content,
                     const std::string& front) {
  constexpr int kTicks = 6, kBelow = 20;
  std::string text = fmt::format(
      "<svg class=\"zoom\" role=\"img\" tabindex=\"0\" aria-label=\"{}\" height=\"{}\" "
      "data-least=\"{:.9g}\" data-most=\"{:.9g}\" data-unit=\"{}\"{}>\n",
      in_xml(title), height + kBelow, x.least, x.most,
      x.unit == Unit::seconds ? "seconds" : "number", x.logarithmic ? " data-log" : "");
  text += behind;
  text += fmt::format(
      "<svg class=\"area\" width=\"100%\" height=\"{0}\" viewBox=\"0 0 {1} {0}\" "
      "preserveAspectRatio=\"none\">\n{2}</svg>\n",
      height, kAreaWidth, content);
  text += front;
  for (const Tick& tick : ticks_of(x, kTicks)) {
    const char* anchor = tick.at < 0.03 ? "start" : tick.at > 0.97 ? "end" : "middle";
    text += fmt::format(
        "<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"{}\" data-at=\"{:.5f}\">{}</text>\n",
        percent(tick.at), height + 14, anchor, tick.at, in_xml(tick.text));
  }
  return text +
         fmt::format("</svg>\n<p class=\"axis below\"><output></output><span>{}</span></p>\n",
                     in_xml(x.label));
}

std::string mark_lines(const std::vector<Mark>& marks, const Scale& x, double height) {
  std::string text;
  for (const Mark& mark : marks) {
    text += fmt::format("<path class=\"mark\" d=\"M{:.1f} 0v{}\"><title>{}</title></path>\n",
                        kAreaWidth * x.at(mark.x), height, in_xml(mark.text));
  }
  return text;
}

}  // namespace loaderscope::page
