#include "guest/host/gpu_timeline.h"

#include <algorithm>
#include <limits>

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMaxStretches = std::size_t{1}
                                      << 20;  // of one step; they are put together beyond

}  // namespace

void GpuTimeline::kernel(Nanos begin, Nanos end) {
  add(kernels_, begin, end);
  known_until_ = std::max(known_until_, end);
}

void GpuTimeline::copy(Nanos begin, Nanos end, Bytes bytes) {
  add(copies_, begin, end);
  copied_ += end - begin;
  copied_bytes_ += bytes;
}

void GpuTimeline::add(Stretches& stretches, Nanos begin, Nanos end) {
  if (stretches.size() >= kMaxStretches) {
    const Nanos last = stretches.back().end;
    stretches = {{last - covered(stretches), last}};
  }
  if (begin < taken_until_) ++late_;
  begin = std::max(begin, taken_until_);
  if (end <= begin) return;
  const auto place =
      std::upper_bound(stretches.begin(), stretches.end(), begin,
                       [](Nanos at, const Stretch& stretch) { return at < stretch.begin; });
  stretches.insert(place, {begin, end});
}

GpuTimeline::Stretches GpuTimeline::cut(Stretches& from, Nanos begin, Nanos end) {
  Stretches inside, beyond;
  while (!from.empty() && from.front().begin < end) {
    const Stretch stretch = from.front();
    from.pop_front();
    const Stretch clipped = {std::max(stretch.begin, begin), std::min(stretch.end, end)};
    if (clipped.end > clipped.begin) inside.push_back(clipped);
    if (stretch.end > end) beyond.push_back({end, stretch.end});
  }
  from.insert(from.begin(), beyond.begin(), beyond.end());
  return inside;
}

// The time in which there was at least one.
Nanos GpuTimeline::covered(const Stretches& by_begin) {
  Nanos sum = 0, until = std::numeric_limits<Nanos>::min();
  for (const Stretch& stretch : by_begin) {
    sum += std::max<Nanos>(0, stretch.end - std::max(stretch.begin, until));
    until = std::max(until, stretch.end);
  }
  return sum;
}

std::optional<GpuTimeline::Work> GpuTimeline::take(Nanos begin, Nanos end) {
  Stretches busy = cut(kernels_, begin, end);
  const Stretches copies = cut(copies_, begin, end);
  taken_until_ = std::max(taken_until_, end);
  if (busy.empty()) return std::nullopt;

  Nanos last = begin;
  for (const Stretch& kernel : busy) last = std::max(last, kernel.end);
  const Nanos computing = covered(busy);
  for (const Stretch& copy : copies) {
    if (copy.begin < last) busy.push_back({copy.begin, std::min(copy.end, last)});
  }
  std::sort(busy.begin(), busy.end(),
            [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  const Nanos copying = covered(busy) - computing;

  Work work;
  work.compute = {last - computing, last, 0, 0};
  if (copying > 0) work.copy = {work.compute.begin - copying, work.compute.begin, 0, 0};
  return work;
}

}  // namespace loaderscope::guest
