#include "device/cuda/device_clock.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace loaderscope::cuda {
namespace {

constexpr int kTries = 5;  // the narrowest counts
constexpr Nanos kPollFor = kMillisecond;
// A wider anchor says less than the one before it, until the clocks have drifted as far.
constexpr Nanos kMaxWidth = 200 * kMicrosecond;
constexpr Nanos kStillGood = 20 * kSecond;

}  // namespace

DeviceClock::DeviceClock(Runtime& runtime, DeviceObjects& objects)
    : runtime_(runtime), objects_(objects), stream_(objects.stream()) {
  for (Anchor& anchor : anchors_) anchor.event = objects.event();
  spare_.event = objects.event();
  measure(spare_);  // the first event of a stream takes longer
  take_anchor();
}

void DeviceClock::keep() {
  if (runtime_.now() - tried_ >= kAnchorEvery) take_anchor();
}

void DeviceClock::measure(Anchor& anchor) {
  const Nanos before = runtime_.now();
  objects_.check("its clock", runtime_.record(anchor.event, stream_));
  bool done = false;
  Nanos after = before;
  while (!done && after - before < kPollFor) {
    objects_.check("its clock", runtime_.query(anchor.event, done));
    after = runtime_.now();
  }
  if (!done) {
    objects_.check("its clock", runtime_.synchronise(anchor.event));
    after = runtime_.now();
  }
  anchor.error = (after - before + 1) / 2;
  anchor.at = before + (after - before) / 2;
}

void DeviceClock::take_anchor() {
  Anchor& next = anchors_[taken_ % anchors_.size()];
  measure(next);
  for (int tries = 1; tries < kTries; ++tries) {
    measure(spare_);
    if (spare_.error < next.error) std::swap(spare_, next);
  }
  tried_ = next.at;
  if (taken_ > 0) {
    const Anchor& last = anchors_[(taken_ - 1) % anchors_.size()];
    if (next.error > kMaxWidth && next.at - last.at < kStillGood) return;
    drift_ = std::max(drift_, std::abs(time_from(last, next.event) - next.at));
  }
  error_ = std::max(error_, next.error);
  ++taken_;
}

Nanos DeviceClock::time_from(const Anchor& anchor, Event event) const {
  double ms = 0;
  objects_.check("times of its events", runtime_.elapsed(anchor.event, event, ms));
  return anchor.at + std::llround(ms * 1e6);
}

Nanos DeviceClock::time_of(Event event) const {
  const Anchor& last = anchors_[(taken_ - 1) % anchors_.size()];
  const Nanos at = time_from(last, event);
  const auto known = static_cast<std::ptrdiff_t>(std::min(taken_, anchors_.size()));
  const auto nearest = std::min_element(
      anchors_.begin(), anchors_.begin() + known,
      [&](const Anchor& a, const Anchor& b) { return std::abs(a.at - at) < std::abs(b.at - at); });
  return nearest->event.handle == last.event.handle ? at : time_from(*nearest, event);
}

}  // namespace loaderscope::cuda
