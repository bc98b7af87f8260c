#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "page/figures.h"
#include "report/draw_steps.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMostStalls = 3;
constexpr std::int64_t kStepsShown = 4;  // of a usual stretch
constexpr std::size_t kMostWorkers = 16;
constexpr double kLong = 1.25;  // times the median: a step with a stall of its own

Nanos length_of(const Exemplar& exemplar) {
  return exemplar.row.compute_end - exemplar.row.idle_begin;
}

class Scene {
 public:
  Scene(const RankRecord& rank, Nanos begin, Nanos end) : rank_(rank), begin_(begin), end_(end) {}

  page::Timeline timeline() const {
    page::Timeline timeline;
    timeline.end = seconds(end_ - begin_);
    timeline.lanes = workers();
    timeline.lanes.push_back(way());
    timeline.lanes.push_back(device());
    return timeline;
  }

 private:
  // Within the scene, and nothing of what is outside.
  void add(page::Lane& lane, Nanos begin, Nanos end, std::string_view name,
           std::string_view kind) const {
    begin = std::max(begin, begin_);
    end = std::min(end, end_);
    if (begin < end)
      lane.stretches.push_back(
          {seconds(begin - begin_), seconds(end - begin_), std::string(name), std::string(kind)});
  }

  static void sort(page::Lane& lane) {
    std::stable_sort(lane.stretches.begin(), lane.stretches.end(),
                     [](const auto& a, const auto& b) { return a.begin < b.begin; });
  }

  std::vector<page::Lane> workers() const {
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
      if (!lane.stretches.empty() && result.size() < kMostWorkers)
        result.push_back(std::move(lane));
    }
    return result;
  }

  // From the workers to the device.
  page::Lane way() const {
    page::Lane lane{"handing over", {}};
    for (const Exemplar& exemplar : rank_.exemplars) {
      const StepEvents& events = exemplar.events;
      for (const auto& [interval, name] :
           {std::pair(&events.send, "transport"), std::pair(&events.receive, "transport"),
            std::pair(&events.pin, "pin"), std::pair(&events.copy, "h2d"),
            std::pair(&events.launch, "launch")}) {
        if (interval->ran()) add(lane, interval->begin, interval->end, name, name);
      }
    }
    sort(lane);
    return lane;
  }

  // What a gap was waited for, by the cause that took most of it.
  page::Lane device() const {
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

  const RankRecord& rank_;
  Nanos begin_, end_;
};

std::vector<const Exemplar*> measured_by_length(const RankRecord& rank) {
  std::vector<const Exemplar*> exemplars;
  for (const Exemplar& exemplar : rank.exemplars)
    if (!exemplar.events.warmup) exemplars.push_back(&exemplar);
  std::stable_sort(exemplars.begin(), exemplars.end(), [](const Exemplar* a, const Exemplar* b) {
    return length_of(*a) < length_of(*b);
  });
  return exemplars;
}

// With the steps before it.
std::string draw_usual(const RankRecord& rank, const Exemplar& usual) {
  Nanos begin = usual.row.idle_begin;
  for (const Exemplar& exemplar : rank.exemplars) {
    const std::int64_t before = usual.row.step - exemplar.row.step;
    if (before >= 0 && before < kStepsShown) begin = std::min(begin, exemplar.row.idle_begin);
  }
  page::Timeline timeline = Scene(rank, begin, usual.row.compute_end).timeline();
  timeline.title = fmt::format("Steps like most: up to step {}", usual.row.step);
  timeline.note = fmt::format("Step {} took {}, the median of those that are kept whole.",
                              usual.row.step, show_duration(length_of(usual)));
  return drawn(timeline);
}

std::string draw_stall(const RankRecord& rank, const Exemplar& stall) {
  const Nanos made = std::min(stall.row.idle_begin, stall.events.begun);
  page::Timeline timeline = Scene(rank, made, stall.row.compute_end).timeline();
  timeline.title = fmt::format("A worst stall: {} before step {}", show_duration(stall.row.idle()),
                               stall.row.step);
  timeline.note =
      "From when its batch was begun to the end of its compute; of other batches only those "
      "that are kept whole.";
  return drawn(timeline);
}

}  // namespace

std::string draw_exemplars(const RunRecord& record) {
  if (record.ranks.empty()) return "";
  const RankRecord& rank = record.ranks.front();
  const std::vector<const Exemplar*> by_length = measured_by_length(rank);
  if (by_length.size() < 2) return "";
  const Exemplar& usual = *by_length[(by_length.size() - 1) / 2];
  std::string text = draw_usual(rank, usual);
  std::size_t stalls = 0;
  for (auto it = by_length.rbegin(); it != by_length.rend() && stalls < kMostStalls; ++it) {
    const auto length = static_cast<double>(length_of(**it));
    if (length < kLong * static_cast<double>(length_of(usual))) break;
    if ((*it)->row.idle() == 0) continue;
    text += draw_stall(rank, **it);
    ++stalls;
  }
  return text;
}

}  // namespace loaderscope
