#include "page/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "page/escape.h"
#include "page/markup.h"

namespace loaderscope::page {
namespace {

constexpr int kBarHeight = 20, kLargeBarHeight = 44;

double bar_length(const Bar& bar) {
  return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0,
                         [](double sum, const Part& part) { return sum + part.size; });
}

std::string drawn_bar(const Bar& bar, double longest, int height) {
  std::string text;
  double at = 0;
  for (const Part& part : bar.parts) {
    if (part.size <= 0) continue;
    text += fmt::format(
        "<rect class=\"k-{}\" x=\"{}\" width=\"{}\" height=\"{}\"><title>{}: "
        "{}</title></rect>\n",
        escape_xml(part.kind), percent(at / longest), percent(part.size / longest), height,
        escape_xml(part.name), escape_xml(part.text));
    at += part.size;
  }
  return text;
}

bool knows(const std::vector<LegendEntry>& entries, const std::string& name) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const LegendEntry& entry) { return entry.name == name; });
}

// Grid lines, which join those of the rows above and below.
std::string grid_lines(const Scale& scale) {
  constexpr int kTicks = 5;
  constexpr std::string_view kLine =
      "<line class=\"{0}\" x1=\"{1}\" x2=\"{1}\" y1=\"0\" y2=\"100%\"/>\n";
  std::string text;
  for (const Tick& tick : scale_ticks(scale, kTicks))
    text += fmt::format(kLine, "grid", percent(tick.at));
  if (!scale.logarithmic && scale.least < 0 && scale.most > 0)
    text += fmt::format(kLine, "zero", percent(scale.at(0)));
  return text;
}

std::string range_marks(const Range& row, const Scale& scale) {
  std::string text = fmt::format(
      "<line class=\"span k-{}\" x1=\"{}\" x2=\"{}\" y1=\"50%\" y2=\"50%\"/>\n",
      escape_xml(row.kind), percent(scale.at(row.at.front())), percent(scale.at(row.at.back())));
  for (std::size_t i = 0; i < row.at.size(); ++i) {
    text += fmt::format(
        "<circle class=\"k-{}\" cx=\"{}\" cy=\"50%\" r=\"{}\"><title>{}: {}</title></circle>\n",
        escape_xml(row.kind), percent(scale.at(row.at[i])), i == row.chief ? 6 : 3,
        escape_xml(row.label), escape_xml(spelled(scale.unit, row.at[i])));
  }
  return text;
}

constexpr int kShades = 9;

std::string heat_cell(const std::optional<double>& value, double most) {
  if (!value) return "<td></td>";
  const int shade =
      most > 0 ? std::clamp(static_cast<int>(*value / most * kShades), 0, kShades) : 0;
  return fmt::format("<td class=\"heat heat-{}\">{}</td>", shade,
                     escape_xml(spelled(Unit::number, *value)));
}

constexpr double kLane = 16, kLaneGap = 6;
constexpr double kFinest = 0.5;  // units of the area; what is shorter is as long as that

// Merges adjacent bars of one kind that are too close to be distinguished. A lane then has no more
// bars than the area has units.
std::vector<LaneBar> merged(const Lane& lane, const Scale& x) {
  std::vector<LaneBar> result;
  for (const LaneBar& next : lane.bars) {
    if (!result.empty()) {
      LaneBar& last = result.back();
      const double gap = kAreaWidth * (x.at(next.begin) - x.at(last.end));
      const double length = kAreaWidth * (x.at(next.end) - x.at(next.begin));
      if (gap < kFinest && (last.name == next.name || length < kFinest)) {
        last.end = std::max(last.end, next.end);
        continue;
      }
    }
    result.push_back(next);
  }
  return result;
}

// A path per kind: it is much shorter than a rectangle per bar.
std::string drawn_lane(const Lane& lane, const Scale& x, double top) {
  struct Drawn {
    std::string kind, path;
    double sum = 0;
  };
  std::map<std::string, Drawn> groups;
  for (const LaneBar& one : merged(lane, x)) {
    const double begin = kAreaWidth * x.at(one.begin);
    const double length = std::max(kFinest, kAreaWidth * x.at(one.end) - begin);
    Drawn& group = groups[one.name];
    group.kind = one.kind;
    group.path +=
        fmt::format("M{:.1f} {:.0f}h{:.1f}v{:.0f}h-{:.1f}z", begin, top, length, kLane, length);
  }
  for (const LaneBar& one : lane.bars) groups[one.name].sum += one.end - one.begin;
  std::string text;
  for (const auto& [name, group] : groups) {
    if (group.path.empty()) continue;
    text += fmt::format(
        "<path class=\"k-{}\" d=\"{}\"><title>{}: {}: {} of the time shown</title></path>\n",
        escape_xml(group.kind), group.path, escape_xml(lane.label), escape_xml(name),
        escape_xml(spelled(Unit::seconds, group.sum)));
  }
  return text;
}

}  // namespace

std::string drawn(const Bars& bars) {
  double longest = 0;
  for (const Bar& bar : bars.bars) longest = std::max(longest, bar_length(bar));
  if (longest <= 0) return "";
  const bool one = bars.bars.size() == 1;
  bool has_rows = false;
  std::string picture;
  std::vector<LegendEntry> entries;
  std::vector<std::vector<Cell>> rows;
  const int height = bars.is_large ? kLargeBarHeight : kBarHeight;
  for (const Bar& bar : bars.bars) {
    const std::string mark = drawn_bar(bar, longest, height);
    const bool is_plain = one && bar.label.empty() && bar.text.empty();
    picture += is_plain
                   ? fmt::format("<svg role=\"img\" aria-label=\"{}\" height=\"{}\">\n{}</svg>",
                                 escape_xml(bars.title), height, mark)
                   : picture_row(bar.label, mark, bar.text);
    if (!is_plain) has_rows = true;
    for (const Part& part : bar.parts) {
      rows.push_back({{bar.label}, {part.name}, {part.text, part.figure}});
      if (one)
        entries.push_back({part.name, part.kind, part.text, part.figure, part.remark, part.place});
      else if (!knows(entries, part.name))
        entries.push_back({part.name, part.kind});
    }
  }
  const std::string table = one ? "" : number_table({"", "part", ""}, rows);
  if (has_rows) picture = "<div class=\"rows bars\">\n" + picture + "</div>";
  return framed(bars.title, bars.note, picture, legend_html(entries) + table);
}

std::string drawn(const Ranges& ranges) {
  if (ranges.rows.empty()) return "";
  const Scale& scale = ranges.scale;
  const std::string grid = grid_lines(scale);
  std::string picture;
  std::vector<std::vector<Cell>> rows;
  for (const Range& row : ranges.rows) {
    if (row.at.empty()) continue;
    picture += picture_row(row.label, grid + range_marks(row, scale), row.text);
    rows.push_back({{row.label}});
    for (std::size_t i = 0; i < row.at.size(); ++i)
      rows.back().push_back(
          {spelled(scale.unit, row.at[i]), {row.at[i], i == row.chief ? row.path : std::string()}});
  }
  std::vector<std::string> header = ranges.columns;
  if (!header.empty()) header.insert(header.begin(), "");
  return framed(ranges.title, ranges.note,
                "<div class=\"rows\">\n" + picture + axis_row(scale) + "</div>",
                number_table(header, rows));
}

std::string drawn(const HeatMap& map) {
  double most = 0;
  for (const auto& row : map.cells) {
    for (const auto& cell : row) most = std::max(most, cell.value_or(0));
  }
  std::string picture =
      fmt::format("<div class=\"wide\"><table class=\"map\">\n<tr><th>{} \\ {}</th>",
                  escape_xml(map.row_name), escape_xml(map.column_name));
  for (const std::string& column : map.columns)
    picture += fmt::format("<th scope=\"col\">{}</th>", escape_xml(column));
  picture += "</tr>\n";
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    picture += fmt::format("<tr><th scope=\"row\">{}</th>", escape_xml(map.rows[row]));
    for (const auto& cell : map.cells[row]) picture += heat_cell(cell, most);
    picture += "</tr>\n";
  }
  return framed(map.title, map.note, picture + "</table></div>", "");
}

std::string drawn(const Timeline& timeline) {
  const Scale x = linear_scale("", Unit::seconds, timeline.begin, timeline.end);
  std::vector<RowLabel> labels;
  std::string content;
  std::vector<LegendEntry> entries;
  double y = 0;
  for (const Lane& lane : timeline.lanes) {
    labels.push_back({y + kLane / 2, lane.label});
    content += drawn_lane(lane, x, y);
    y += kLane + kLaneGap;
    for (const LaneBar& one : lane.bars) {
      const bool known = std::any_of(entries.begin(), entries.end(),
                                     [&](const auto& entry) { return entry.name == one.name; });
      if (!known) entries.push_back({one.name, one.kind});
    }
  }
  if (entries.empty()) return "";
  content = mark_lines(timeline.marks, x, y) + content;
  return framed(timeline.title, timeline.note,
                with_labels(labels, y, zoomable(timeline.title, x, y, "", content)),
                legend_html(entries), timeline.places);
}

}  // namespace loaderscope::page
