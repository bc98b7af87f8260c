#include "engine/import/traced_rank.h"

#include <algorithm>
#include <utility>

namespace loaderscope::traces {
namespace {

constexpr Nanos kNoticeableOfStep = 100;  // a hundredth
constexpr Nanos kNoticeable = 1'000'000;  // 1 ms, for runs without steps

Nanos noticeable_gap(const TracedSteps& steps) {
  return steps.basis == StepBasis::none ? kNoticeable
                                        : std::max<Nanos>(steps.median() / kNoticeableOfStep, 1);
}

class Walker {
 public:
  Walker(WalkedRank& rank, const HostView& host, const GpuView* gpu, const TimeRanges& another)
      : rank_(rank), host_(host), gpu_(gpu), another_ranks_loader_(another) {}

  void walk() {
    for (const TracedStep& step : rank_.steps.list) {
      WalkedStep walked{step, {}};
      if (gpu_ != nullptr) {
        const GapReader reader(*gpu_, host_, rank_.noticeable);
        const GpuView::Busy busy = gpu_->busy(step.at);
        for (const TimeRange& gap : busy.gaps) count(walked, gap, reader.split_gap(gap));
        for (const TimeRange& gap : common(busy.collectives, another_ranks_loader_))
          count(walked, gap, whole_gap(gap, GapKind::another_rank));
        rank_.kernels += busy.kernels;
        rank_.only_collective += busy.only_collective;
      } else {
        add_waits_of_host(walked);
      }
      count_step(walked.parts);
      rank_.loader_waits += covered(host_.main().ranges[HostKind::loader_wait], step.at);
      rank_.walked.push_back(std::move(walked));
    }
    rank_.loader_calls = std::ssize(host_.loader_calls());
  }

 private:
  // Without a GPU, all time outside of waits counts as training.
  void add_waits_of_host(WalkedStep& walked) {
    const TimeRanges& waits = host_.main().ranges[HostKind::loader_wait];
    for (auto at = find_later(waits, walked.step.at.begin);
         at != waits.end() && at->begin < walked.step.at.end; ++at) {
      const TimeRange gap = intersect(*at, walked.step.at);
      count(walked, gap, whole_gap(gap, GapKind::loader));
    }
  }

  static GapParts whole_gap(TimeRange gap, GapKind kind) {
    GapParts parts;
    parts[kind] = gap.length();
    return parts;
  }

  void count(WalkedStep& walked, TimeRange gap, const GapParts& parts) {
    walked.parts += parts;
    for (std::size_t k = 0; k < kGapKinds; ++k) {
      const Nanos part = parts.times.at(k);
      if (part < rank_.noticeable) continue;
      GapTotal& total = rank_.gaps.at(k);
      ++total.gaps;
      if (part <= total.longest) continue;
      total.longest = part;
      total.longest_at = gap.begin;
      total.longest_step = rank_.steps.basis == StepBasis::none ? -1 : walked.step.number;
    }
  }

  void count_step(const GapParts& parts) {
    for (std::size_t k = 0; k < kGapKinds; ++k) {
      rank_.gaps.at(k).time += parts.times.at(k);
      rank_.gaps.at(k).steps += parts.times.at(k) >= rank_.noticeable;
    }
  }

  WalkedRank& rank_;
  const HostView& host_;
  const GpuView* gpu_;
  const TimeRanges& another_ranks_loader_;
};

}  // namespace

WalkedRank walk(const HostView& host, const std::vector<StepMark>& marks, const GpuView* gpu,
                const TimeRanges& another_ranks_loader, TimeRange extent) {
  WalkedRank rank;
  rank.steps = find_steps(marks, host, extent);
  rank.noticeable = noticeable_gap(rank.steps);
  rank.has_loader = host.has_loader();
  Walker(rank, host, gpu, another_ranks_loader).walk();
  return rank;
}

namespace {

// Steps last from one begin to the next. Work between two marks belongs to the earlier one. Marks
// inside a mark are ignored.
std::vector<TracedStep> from_begin_to_begin(std::vector<StepMark> marks) {
  std::stable_sort(marks.begin(), marks.end(),
                   [](const StepMark& a, const StepMark& b) { return a.begin < b.begin; });
  std::vector<TracedStep> steps;
  for (const StepMark& mark : marks) {
    if (mark.end <= mark.begin || (!steps.empty() && mark.begin < steps.back().at.end)) continue;
    const auto index = static_cast<std::int64_t>(steps.size());
    steps.push_back({{mark.begin, mark.end}, mark.number >= 0 ? mark.number : index});
  }
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) steps[i].at.end = steps[i + 1].at.begin;
  return steps;
}

// The last step ends when the GPU has finished its work.
std::vector<StepMark> make_step_marks(const std::vector<TimeRange>& asks, TimeRange extent) {
  std::vector<StepMark> marks;
  for (const TimeRange& ask : asks) marks.push_back({ask.begin, ask.end});
  if (!marks.empty()) marks.back().end = std::max(marks.back().end, extent.end);
  return marks;
}

}  // namespace

Nanos TracedSteps::median() const {
  std::vector<Nanos> lengths;
  for (const TracedStep& step : list) lengths.push_back(step.at.length());
  if (lengths.empty()) return 0;
  const auto middle = lengths.begin() + std::ssize(lengths) / 2;
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

const TracedStep* TracedSteps::at(Nanos time) const {
  const auto found = std::partition_point(
      list.begin(), list.end(), [time](const TracedStep& step) { return step.at.end <= time; });
  return found != list.end() && found->at.begin <= time && basis != StepBasis::none ? &*found
                                                                                    : nullptr;
}

TracedSteps find_steps(std::vector<StepMark> marks, const HostView& host, TimeRange extent) {
  TracedSteps steps;
  steps.list = from_begin_to_begin(std::move(marks));
  if (!steps.list.empty()) {
    steps.basis = StepBasis::marks;
    return steps;
  }
  if (!host.is_sampled())
    steps.list = from_begin_to_begin(make_step_marks(host.loader_calls(), extent));
  steps.basis = steps.list.empty() ? StepBasis::none : StepBasis::loader;
  if (steps.list.empty()) steps.list.push_back({extent});
  return steps;
}

}  // namespace loaderscope::traces
