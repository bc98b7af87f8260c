#include "engine/import/traced_rank.h"

#include <algorithm>
#include <utility>

namespace loaderscope::traces {
namespace {

constexpr Nanos kNoticeableOfStep = 100;  // a hundredth
constexpr Nanos kNoticeable = 1'000'000;  // 1 ms, for runs without steps

Nanos noticeable_of(const TracedSteps& steps) {
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
        for (const TimeRange& gap : busy.gaps) count(walked, gap, reader.parts_of(gap));
        for (const TimeRange& gap : common(busy.collectives, another_ranks_loader_))
          count(walked, gap, all_of(gap, GapKind::another_rank));
        rank_.kernels += busy.kernels;
        rank_.only_collective += busy.only_collective;
      } else {
        add_waits_of_host(walked);
      }
      count_step(walked.parts);
      rank_.loader_waits += covered(host_.main().of[HostKind::loader_wait], step.at);
      rank_.walked.push_back(std::move(walked));
    }
    rank_.loader_calls = std::ssize(host_.loader_calls());
  }

 private:
  // Without a GPU, all time outside of waits counts as training.
  void add_waits_of_host(WalkedStep& walked) {
    const TimeRanges& waits = host_.main().of[HostKind::loader_wait];
    for (auto at = first_behind(waits, walked.step.at.begin);
         at != waits.end() && at->begin < walked.step.at.end; ++at) {
      const TimeRange gap = intersect(*at, walked.step.at);
      count(walked, gap, all_of(gap, GapKind::loader));
    }
  }

  static GapParts all_of(TimeRange gap, GapKind kind) {
    GapParts parts;
    parts[kind] = gap.length();
    return parts;
  }

  void count(WalkedStep& walked, TimeRange gap, const GapParts& parts) {
    walked.parts += parts;
    for (std::size_t k = 0; k < kGapKinds; ++k) {
      const Nanos part = parts.of.at(k);
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
      rank_.gaps.at(k).time += parts.of.at(k);
      rank_.gaps.at(k).steps += parts.of.at(k) >= rank_.noticeable;
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
  rank.steps = steps_of(marks, host, extent);
  rank.noticeable = noticeable_of(rank.steps);
  rank.has_loader = host.has_loader();
  Walker(rank, host, gpu, another_ranks_loader).walk();
  return rank;
}

}  // namespace loaderscope::traces
