#include "page/markup.h"

#include <fmt/format.h>

#include <algorithm>

#include "page/escape.h"

namespace loaderscope::page {

namespace {

std::string with_value(const Figure& figure, const std::string& text) {
  if (figure.path.empty()) return escape_xml(text);
  return fmt::format("<data value=\"{:.9f}\" data-path=\"{}\">{}</data>", figure.value,
                     escape_xml(figure.path), escape_xml(text));
}

}  // namespace

std::string framed(std::string_view title, std::string_view note, const std::string& picture,
                   const std::string& below, const std::vector<std::string>& places) {
  std::string text;
  for (std::size_t i = 1; i < places.size(); ++i)
    text += fmt::format("<span id=\"{}\"></span>", escape_xml(places[i]));
  const std::string id =
      places.empty() ? "" : fmt::format(" id=\"{}\" tabindex=\"-1\"", escape_xml(places[0]));
  text += fmt::format("<figure{}>\n<figcaption><h2>{}</h2>", id, escape_xml(title));
  if (!note.empty()) text += fmt::format("<p>{}</p>", escape_xml(note));
  return text + "</figcaption>\n" + picture + "\n" + below + "</figure>\n";
}

std::string legend_html(const std::vector<LegendEntry>& entries) {
  std::string text = "<ul class=\"legend\">\n";
  for (const LegendEntry& entry : entries) {
    const std::string name = escape_xml(entry.name);
    text += fmt::format("<li><i class=\"k-{}\"></i>{}", escape_xml(entry.kind),
                        entry.place.empty()
                            ? name
                            : fmt::format("<a href=\"#{}\">{}</a>", escape_xml(entry.place), name));
    if (!entry.figure.path.empty()) {
      text += " " + with_value(entry.figure, entry.text);
    } else if (!entry.text.empty()) {
      text += fmt::format(" <b>{}</b>", escape_xml(entry.text));
    }
    if (!entry.remark.empty()) text += fmt::format(" <small>{}</small>", escape_xml(entry.remark));
    text += "</li>\n";
  }
  return text + "</ul>\n";
}

std::string drawn(const std::vector<Tile>& tiles) {
  std::string text = "<dl class=\"tiles\">\n";
  for (const Tile& tile : tiles) {
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_xml(tile.name),
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
    text += fmt::format("<th scope=\"col\">{}</th>", escape_xml(cell));
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
    text += fmt::format("<div><h3>{}</h3>\n", escape_xml(box.title));
    for (const std::string& line : box.lines) text += fmt::format("<p>{}</p>\n", escape_xml(line));
    text += "</div>\n";
  }
  return framed(boxes.title, boxes.note, text + "</div>", "");
}

std::string percent(double share) { return fmt::format("{:.2f}%", 100 * share); }

namespace {

// Ticks with their labels below. A narrow screen has room for every second label.
std::string drawn_ticks(const std::vector<Tick>& ticks, double y) {
  constexpr std::size_t kShort = 7, kFew = 5;
  std::string text;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const Tick& tick = ticks[i];
    const bool reaches_out = tick.at > 0.97 && tick.text.size() > kShort;
    text += fmt::format(
        "<text class=\"tick{}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\" "
        "data-at=\"{:.5f}\">{}</text>\n",
        ticks.size() > kFew && i % 2 == 1 ? " odd" : "", percent(tick.at), y,
        reaches_out ? "end" : "middle", tick.at, escape_xml(tick.text));
  }
  return text;
}

}  // namespace

std::string zoomable(std::string_view title, const Scale& x, double height, const std::string& grid,
                     const std::string& content, const std::string& attributes) {
  constexpr int kTicks = 6, kBelow = 20;
  const AxisUnit unit = x.axis_unit();
  std::string text = fmt::format(
      "<div class=\"body\"><svg class=\"zoom\" role=\"img\" tabindex=\"0\" aria-label=\"{}\" "
      "height=\"{}\" data-least=\"{:.9g}\" data-most=\"{:.9g}\" data-size=\"{:g}\" "
      "data-unit=\"{}\"{}{}{}>\n",
      escape_xml(title), height + kBelow, x.least, x.most, unit.size, unit.name,
      x.logarithmic ? " data-log" : "", x.whole ? " data-whole" : "", attributes);
  text += grid;
  text += fmt::format(
      "<svg class=\"area\" width=\"100%\" height=\"{0}\" viewBox=\"0 0 {1} {0}\" "
      "preserveAspectRatio=\"none\">\n{2}</svg>\n",
      height, kAreaWidth, content);
  text += drawn_ticks(scale_ticks(x, kTicks), height + 15);
  return text +
         fmt::format("</svg>\n<p class=\"axis below\"><output></output><span>{}</span></p></div>\n",
                     escape_xml(x.label));
}

std::string with_labels(const std::vector<RowLabel>& labels, double height,
                        const std::string& picture) {
  constexpr double kLetter = 7, kHalfLetter = 4;
  std::size_t longest = 0;
  for (const RowLabel& label : labels) longest = std::max(longest, label.text.size());
  const double width = kLetter * static_cast<double>(longest);
  std::string text =
      fmt::format("<div class=\"labelled\"><svg class=\"labels\" width=\"{0}\" height=\"{1}\">\n",
                  width, height);
  for (const RowLabel& label : labels)
    text +=
        fmt::format("<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                    width, label.y + kHalfLetter, escape_xml(label.text));
  return text + "</svg>" + picture + "</div>\n";
}

std::string picture_row(std::string_view label, std::string_view mark, std::string_view text) {
  return fmt::format(
      "<span>{0}</span><div><svg role=\"img\" aria-label=\"{0}: {2}\">{1}</svg></div>"
      "<span>{2}</span>\n",
      escape_xml(label), mark, escape_xml(text));
}

std::string axis_row(const Scale& scale) {
  constexpr int kTicks = 5;
  constexpr double kBelow = 14;
  const std::string text =
      "<span></span><div class=\"ticks\"><svg>" + drawn_ticks(scale_ticks(scale, kTicks), kBelow);
  return text +
         fmt::format("</svg></div><span></span>\n{}",
                     scale.label.empty()
                         ? ""
                         : fmt::format("<span></span><p class=\"axis\">{}</p><span></span>\n",
                                       escape_xml(scale.label)));
}

std::string mark_lines(const std::vector<Mark>& marks, const Scale& x, double height) {
  std::string text;
  for (const Mark& mark : marks) {
    text += fmt::format("<path class=\"mark\" d=\"M{:.1f} 0v{}\"><title>{}</title></path>\n",
                        kAreaWidth * x.at(mark.x), height, escape_xml(mark.text));
  }
  return text;
}

}  // namespace loaderscope::page
