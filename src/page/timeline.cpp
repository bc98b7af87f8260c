#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "page/escape.h"
#include "page/markup.h"

namespace loaderscope::page {
namespace {

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
  std::map<std::string, Drawn> by_name;
  for (const LaneBar& one : merged(lane, x)) {
    const double begin = kAreaWidth * x.at(one.begin);
    const double length = std::max(kFinest, kAreaWidth * x.at(one.end) - begin);
    Drawn& of_name = by_name[one.name];
    of_name.kind = one.kind;
    of_name.path +=
        fmt::format("M{:.1f} {:.0f}h{:.1f}v{:.0f}h-{:.1f}z", begin, top, length, kLane, length);
  }
  for (const LaneBar& one : lane.bars) by_name[one.name].sum += one.end - one.begin;
  std::string text;
  for (const auto& [name, of_name] : by_name) {
    if (of_name.path.empty()) continue;
    text += fmt::format(
        "<path class=\"k-{}\" d=\"{}\"><title>{}: {}: {} of the time shown</title></path>\n",
        in_xml(of_name.kind), of_name.path, in_xml(lane.label), in_xml(name),
        in_xml(spelled(Unit::seconds, of_name.sum)));
  }
  return text;
}

}  // namespace

std::string drawn(const Timeline& timeline) {
  const Scale x = scale_of("", Unit::seconds, timeline.begin, timeline.end);
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
                legend_of(entries), timeline.places);
}

}  // namespace loaderscope::page
