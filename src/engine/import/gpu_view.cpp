#include "engine/import/gpu_view.h"

#include <iterator>
#include <limits>
#include <utility>

namespace loaderscope::traces {

GpuView::GpuView(TracedGpu& gpu) {
  for (std::size_t k = 0; k < kGpuKinds; ++k)
    work_.at(k) = merged(std::exchange(gpu.work.at(k), {}));
}

GpuView::Busy GpuView::busy(TimeRange within) const {
  Busy busy;
  TimeRanges without_kernels = {within};
  busy.kernels = take(without_kernels, of(GpuKind::kernel));
  busy.gaps = without_kernels;
  busy.kernels += take(without_kernels, of(GpuKind::collective));
  take(busy.gaps, of(GpuKind::memory));
  busy.collectives = common(busy.gaps, of(GpuKind::collective));
  busy.only_collective = take(busy.gaps, of(GpuKind::collective));
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
    const auto behind = first_behind(pieces, at);
    if (behind != pieces.begin()) since = std::max(since, end_of(*std::prev(behind)));
  }
  return since;
}

}  // namespace loaderscope::traces
