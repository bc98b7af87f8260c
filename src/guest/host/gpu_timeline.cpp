#include "guest/host/gpu_timeline.h"

#include <algorithm>
#include <limits>

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMaxRanges = std::size_t{1} << 20;  // per step; more ranges are merged

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

void GpuTimeline::add(TimeRanges& ranges, Nanos begin, Nanos end) {
  if (ranges.size() >= kMaxRanges) {
    const Nanos last = ranges.back().end;
    ranges = {{last - covered(ranges), last}};
  }
  if (begin < taken_until_) ++late_;
  begin = std::max(begin, taken_until_);
  if (end <= begin) return;
  const auto place =
      std::upper_bound(ranges.begin(), ranges.end(), begin,
                       [](Nanos at, const TimeRange& range) { return at < range.begin; });
  ranges.insert(place, {begin, end});
}

GpuTimeline::TimeRanges GpuTimeline::cut(TimeRanges& from, Nanos begin, Nanos end) {
  TimeRanges inside, beyond;
  while (!from.empty() && from.front().begin < end) {
    const TimeRange range = from.front();
    from.pop_front();
    const TimeRange clipped = intersect(range, {begin, end});
    if (!clipped.empty()) inside.push_back(clipped);
    if (range.end > end) beyond.push_back({end, range.end});
  }
  from.insert(from.begin(), beyond.begin(), beyond.end());
  return inside;
}

// The time in which there was at least one.
Nanos GpuTimeline::covered(const TimeRanges& sorted_ranges) {
  Nanos sum = 0, until = std::numeric_limits<Nanos>::min();
  for (const TimeRange& range : sorted_ranges) {
    sum += std::max<Nanos>(0, range.end - std::max(range.begin, until));
    until = std::max(until, range.end);
  }
  return sum;
}

std::optional<GpuTimeline::Work> GpuTimeline::take(Nanos begin, Nanos end) {
  TimeRanges busy = cut(kernels_, begin, end);
  const TimeRanges copies = cut(copies_, begin, end);
  taken_until_ = std::max(taken_until_, end);
  if (busy.empty()) return std::nullopt;

  Nanos last = begin;
  for (const TimeRange& kernel : busy) last = std::max(last, kernel.end);
  const Nanos computing = covered(busy);
  for (const TimeRange& copy : copies) {
    if (copy.begin < last) busy.push_back({copy.begin, std::min(copy.end, last)});
  }
  std::sort(busy.begin(), busy.end(),
            [](const TimeRange& a, const TimeRange& b) { return a.begin < b.begin; });
  const Nanos copying = covered(busy) - computing;

  Work work;
  work.compute = {last - computing, last, 0, 0};
  if (copying > 0) work.copy = {work.compute.begin - copying, work.compute.begin, 0, 0};
  return work;
}

}  // namespace loaderscope::guest
