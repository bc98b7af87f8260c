#include "engine/import/rank_views.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace loaderscope::traces {

HostView::HostView(TracedProcess& process) : is_sampled_(process.is_sampled) {
  if (process.threads.empty()) process.threads.emplace_back();
  choose_main(process.threads);
  for (TracedThread& thread : process.threads) {
    Thread& view = threads_.emplace_back();
    std::transform(thread.ranges.begin(), thread.ranges.end(), view.ranges.begin(),
                   [](std::vector<TimeRange>& set) { return merged(std::move(set)); });
    view.active = merged(std::move(thread.active));
    const TimeRanges& waits = view.ranges[HostKind::loader_wait];
    loader_waits_.insert(loader_waits_.end(), waits.begin(), waits.end());
  }
  process.threads = {};
  loader_waits_ = merged(std::move(loader_waits_));
  overhead_ = merged(std::move(process.overhead));
  launches_ = std::move(process.launches);
  std::sort(launches_.begin(), launches_.end(),
            [](const Launch& a, const Launch& b) { return a.correlation < b.correlation; });
}

// The thread that waits for batches most often; without any, the one that calls CUDA most.
void HostView::choose_main(const std::vector<TracedThread>& threads) {
  const auto most = std::max_element(threads.begin(), threads.end(),
                                     [](const TracedThread& a, const TracedThread& b) {
                                       constexpr auto kWait = HostKind::loader_wait;
                                       return std::pair(a.ranges[kWait].size(), a.calls) <
                                              std::pair(b.ranges[kWait].size(), b.calls);
                                     });
  main_ = static_cast<std::size_t>(most - threads.begin());
  loader_calls_ = most->ranges[HostKind::loader_wait];
  std::sort(loader_calls_.begin(), loader_calls_.end(),
            [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
}

const Launch* HostView::find_launch(std::uint32_t correlation) const {
  if (correlation == 0) return nullptr;
  const auto found = std::lower_bound(
      launches_.begin(), launches_.end(), correlation,
      [](const Launch& launch, std::uint32_t wanted) { return launch.correlation < wanted; });
  return found != launches_.end() && found->correlation == correlation ? &*found : nullptr;
}

GpuView::GpuView(TracedGpu& gpu) {
  for (std::size_t k = 0; k < kGpuKinds; ++k)
    work_.at(k) = merged(std::exchange(gpu.work.at(k), {}));
}

GpuView::Busy GpuView::busy(TimeRange within) const {
  Busy busy;
  TimeRanges without_kernels = {within};
  busy.kernels = take(without_kernels, work(GpuKind::kernel));
  busy.gaps = without_kernels;
  busy.kernels += take(without_kernels, work(GpuKind::collective));
  take(busy.gaps, work(GpuKind::memory));
  busy.collectives = common(busy.gaps, work(GpuKind::collective));
  busy.only_collective = take(busy.gaps, work(GpuKind::collective));
  return busy;
}

GpuView::Next GpuView::next_from(Nanos at) const {
  Next next;
  for (std::size_t k = 0; k < kGpuKinds; ++k) {
    const Pieces& pieces = work_.at(k);
    const auto found = std::partition_point(
        pieces.begin(), pieces.end(), [at](const GpuPiece& piece) { return piece.begin < at; });
    if (found == pieces.end()) continue;
    if (next.piece == nullptr || found->begin < next.piece->begin)
      next = {static_cast<GpuKind>(k), &*found};
  }
  return next;
}

Nanos GpuView::quiet_since(Nanos at) const {
  Nanos since = std::numeric_limits<Nanos>::min();
  for (const Pieces& pieces : work_) {
    const auto position = find_later(pieces, at);
    if (position != pieces.begin()) since = std::max(since, range_end(*std::prev(position)));
  }
  return since;
}

}  // namespace loaderscope::traces
