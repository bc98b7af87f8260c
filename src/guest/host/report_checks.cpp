#include "guest/host/report_checks.h"

#include <algorithm>
#include <limits>

namespace loaderscope::guest {
namespace {

constexpr Nanos kAhead = kSecond;            // the GPU's clock may be, by far less
constexpr Nanos kFarAhead = Nanos{1} << 52;  // a simulated device knows when it will have computed
constexpr Bytes kMaxBytes = Bytes{1} << 40;
constexpr std::int64_t kMaxBatchNumber = std::int64_t{1} << 40;
constexpr std::int32_t kMaxGenerations = std::int32_t{1} << 30;

bool is_in(std::int64_t value, std::int64_t least, std::int64_t most) {
  return value >= least && value <= most;
}

bool is_range(Nanos begin, Nanos end, Nanos latest) {
  return begin >= 0 && begin <= end && end <= latest;
}

}  // namespace

bool is_possible(GuestEvent& fact, Nanos now) {
  if (!is_in(static_cast<int>(fact.kind), 1, static_cast<int>(kFactNames.size()) - 1)) return false;
  const bool of_device =
      fact.kind == GuestEventKind::copied || fact.kind == GuestEventKind::computed;
  const Nanos end = fact.end == 0 ? fact.begin : fact.end;
  if (!is_range(fact.begin, end, now + (of_device ? kFarAhead : kAhead)) ||
      !is_in(fact.cpu, 0, now + kAhead) || !is_in(fact.queued, 0, now + kAhead))
    return false;
  if (!is_in(fact.iterator, -1, kMaxIterators - 1) || !is_in(fact.generation, 0, kMaxGenerations) ||
      !is_in(fact.worker, 0, kMaxWorkers - 1) || !is_in(fact.batch, -1, kMaxBatchNumber))
    return false;
  fact.count = std::clamp<std::int64_t>(fact.count, -1, std::numeric_limits<std::int32_t>::max());
  fact.bytes = std::clamp<Bytes>(fact.bytes, 0, kMaxBytes);
  return true;
}

bool is_possible(ThreadLog::Entry& entry, Nanos now) {
  Span& span = entry.span;
  if (entry.kind != ThreadLog::Kind::span || static_cast<std::size_t>(span.stage) >= kStages)
    return false;
  if (!is_range(span.begin, span.end, now + kAhead) || !is_in(span.cpu, 0, now + kAhead) ||
      !is_in(span.queued, 0, now + kAhead) || span.batch < -1 || span.sample < -1)
    return false;
  span.bytes = std::clamp<Bytes>(span.bytes, 0, kMaxBytes);
  return true;
}

bool is_possible(GpuRecord& record, Nanos now) {
  if (!is_range(record.begin, record.end, now + kAhead)) return false;
  record.bytes = std::clamp<Bytes>(record.bytes, 0, kMaxBytes);
  return true;
}

}  // namespace loaderscope::guest
