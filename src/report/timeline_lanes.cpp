#include "report/timeline_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace loaderscope {
namespace {

constexpr std::size_t kMaxWorkers = 16;

void sort(page::Lane& lane) {
  std::stable_sort(lane.bars.begin(), lane.bars.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
}

// One part of the way of a batch to the device.
struct Passage {
  const char* label;
  Interval StepEvents::*interval;
  const char* kind;
};
constexpr std::array<Passage, 5> kPassages = {{{"sending", &StepEvents::send, "transport"},
                                               {"receiving", &StepEvents::receive, "transport"},
                                               {"pin thread", &StepEvents::pin, "pin"},
                                               {"copy engine", &StepEvents::copy, "h2d"},
                                               {"launching", &StepEvents::launch, "launch"}}};

struct Depth {
  const char *name, *kind;
};

Depth lane_depth(std::int64_t batches) {
  if (batches == 1) return {"1 batch ready", "soft"};
  if (batches == 2) return {"2 ready", "pin"};
  return {"3 or more ready", "plain"};
}

}  // namespace

void TimelineLanes::see(const StepRow& row) {
  if (row.take <= begin_ || row.deliverable >= end_) return;
  ready_.emplace_back(std::max(row.deliverable, begin_), 1);
  ready_.emplace_back(std::min(row.take, end_), -1);
}

page::Timeline TimelineLanes::timeline() const {
  page::Timeline timeline;
  timeline.end = seconds(end_ - begin_);
  timeline.lanes = workers();
  for (page::Lane& lane : handing_over()) timeline.lanes.push_back(std::move(lane));
  timeline.lanes.insert(timeline.lanes.end(), {queue(), device()});
  for (const Exemplar& exemplar : rank_.exemplars) {
    const Nanos at = exemplar.row.compute_begin;
    if (at >= begin_ && at < end_)
      timeline.marks.push_back(
          {seconds(at - begin_), fmt::format("step {} begins to compute", exemplar.row.step)});
  }
  return timeline;
}

// Within the scene, and nothing of what is outside.
void TimelineLanes::add(page::Lane& lane, Nanos begin, Nanos end, std::string_view name,
                        std::string_view kind) const {
  begin = std::max(begin, begin_);
  end = std::min(end, end_);
  if (begin < end)
    lane.bars.push_back(
        {seconds(begin - begin_), seconds(end - begin_), std::string(name), std::string(kind)});
}

std::vector<page::Lane> TimelineLanes::workers() const {
  std::map<std::int32_t, page::Lane> lanes;
  for (const Exemplar& exemplar : rank_.exemplars) {
    for (const auto& [worker, span] : exemplar.spans) {
      page::Lane& lane = lanes[worker];
      lane.label = fmt::format("worker {}", worker);
      add(lane, span.begin, span.end, name_of(span.stage), name_of(span.stage));
    }
  }
  std::vector<page::Lane> result;
  for (auto& [worker, lane] : lanes) {
    sort(lane);
    if (!lane.bars.empty() && result.size() < kMaxWorkers) result.push_back(std::move(lane));
  }
  return result;
}

std::vector<page::Lane> TimelineLanes::handing_over() const {
  std::vector<page::Lane> lanes;
  for (const Passage& passage : kPassages) {
    page::Lane lane{passage.label, {}};
    for (const Exemplar& exemplar : rank_.exemplars) {
      const Interval& interval = exemplar.events.*passage.interval;
      if (interval.ran()) add(lane, interval.begin, interval.end, passage.kind, passage.kind);
    }
    sort(lane);
    if (!lane.bars.empty()) lanes.push_back(std::move(lane));
  }
  return lanes;
}

page::Lane TimelineLanes::queue() const {
  page::Lane lane{"queue", {}};
  std::vector<std::pair<Nanos, std::int64_t>> changes = ready_;
  std::sort(changes.begin(), changes.end());
  std::int64_t ready = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    ready += changes[i].second;
    if (ready <= 0) continue;
    const Depth depth = lane_depth(ready);
    add(lane, changes[i].first, changes[i + 1].first, depth.name, depth.kind);
  }
  return lane;
}

// Returns the lane of the device. The label of a gap is the cause with the largest part of it.
page::Lane TimelineLanes::device() const {
  page::Lane lane{"training", {}};
  for (const Exemplar& exemplar : rank_.exemplars) {
    const StepRow& row = exemplar.row;
    const auto most = std::max_element(row.stall.begin(), row.stall.end());
    const std::string_view cause = name_of(static_cast<Cause>(most - row.stall.begin()));
    if (*most > 0)
      add(lane, row.idle_begin, row.compute_begin, fmt::format("waits for {}", cause), cause);
    add(lane, row.compute_begin, row.compute_end, "compute", "compute");
  }
  sort(lane);
  return lane;
}

}  // namespace loaderscope
