#include "guest/host/first_calls.h"

#include <cmath>

namespace loaderscope::guest {
namespace {

constexpr Nanos kLong = 2 * kMillisecond;
constexpr std::int64_t kTimesLonger = 5;  // than the stage usually takes
constexpr std::int64_t kMinKnown = 16;    // calls, before it is known what is usual

bool is_of_making(const Span& span) {
  return span.batch >= 0 && span.stage != Stage::idle && !is_startup(span.stage);
}

}  // namespace

std::optional<Span> FirstCalls::take_start_of(std::int32_t worker, Span& span) {
  if (span.stage == Stage::startup) called_[worker] = {};
  if (!is_of_making(span)) return std::nullopt;
  const auto its_calls = called_.find(worker);  // calls of a process whose start was seen
  Usual& usual = usual_[span.stage];
  // Run-queue delay is not a property of first calls.
  const Nanos length = span.end - span.begin - span.queued;
  const bool is_first = its_calls != called_.end() && !its_calls->second[span.stage];
  if (!is_first) {
    ++usual.count;
    usual.wall += length;
    return std::nullopt;
  }
  its_calls->second[span.stage] = true;
  const Nanos excess = length - usual.mean();
  if (usual.count < kMinKnown || excess < kLong || length < kTimesLonger * usual.mean())
    return std::nullopt;
  const double part = static_cast<double>(excess) / static_cast<double>(length);
  Span start = span;
  start.stage = Stage::startup;
  start.bytes = 0;
  const auto wall = static_cast<double>(span.end - span.begin);
  start.end = span.begin + std::llround(part * wall);
  start.cpu = static_cast<Nanos>(part * static_cast<double>(span.cpu));
  start.queued = static_cast<Nanos>(part * static_cast<double>(span.queued));
  span.begin = start.end;
  span.cpu -= start.cpu;
  span.queued -= start.queued;
  return start;
}

}  // namespace loaderscope::guest
