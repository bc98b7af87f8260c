#include "device/cuda/device_objects.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace loaderscope::cuda {

DeviceObjects::DeviceObjects(Runtime& runtime, std::string place)
    : runtime_(runtime), place_(std::move(place)) {}

DeviceObjects::~DeviceObjects() {
  for (auto free = frees_.rbegin(); free != frees_.rend(); ++free) (*free)();
}

void DeviceObjects::check(std::string_view what, const Status& status) const {
  if (!status.ok()) cuda::check(place_ + ": " + std::string(what), status);
}

Stream DeviceObjects::stream() {
  Stream stream;
  check("a stream", runtime_.make_stream(stream));
  frees_.push_back([this, stream] { runtime_.free_stream(stream); });
  return stream;
}

Event DeviceObjects::event() {
  Event event;
  check("an event", runtime_.make_event(event));
  frees_.push_back([this, event] { runtime_.free_event(event); });
  return event;
}

void* DeviceObjects::memory(std::size_t bytes, std::string_view what) {
  void* place = nullptr;
  check(what, runtime_.allocate(bytes, place));
  frees_.push_back([this, place] { runtime_.free(place); });
  return place;
}

void* DeviceObjects::host_memory(std::size_t bytes, std::string_view what) {
  void* place = nullptr;
  check(what, runtime_.allocate_host(bytes, HostKind::plain, place));
  frees_.push_back([this, place] { runtime_.free_host(place); });
  return place;
}

void DeviceObjects::products() {
  runtime_.begin_products();
  frees_.push_back([this] { runtime_.end_products(); });
}

void DeviceObjects::keep(Graph graph) {
  frees_.push_back([this, graph] { runtime_.free_graph(graph); });
}

DeviceGroup::DeviceGroup(std::shared_ptr<Runtime> runtime, std::int32_t ranks,
                         std::int32_t in_flight, bool barrier)
    : runtime_(std::move(runtime)),
      ranks_(ranks),
      in_flight_(in_flight),
      barrier_(barrier),
      objects_(*runtime_, "GPU 0") {
  const auto words = static_cast<std::size_t>(1 + ranks) +
                     static_cast<std::size_t>(ranks) * static_cast<std::size_t>(in_flight);
  const std::size_t bytes = words * sizeof(std::int64_t);
  words_ = static_cast<std::int64_t*>(objects_.host_memory(bytes, "words for its kernels"));
  std::fill(words_, words_ + words, 0);
}

void DeviceGroup::end() {
  std::atomic_ref<std::int64_t>(*words_).store(1, std::memory_order_release);
}

bool DeviceGroup::has_ended() const {
  return std::atomic_ref<std::int64_t>(*words_).load(std::memory_order_acquire) != 0;
}

Gate DeviceGroup::gate(std::int32_t rank, std::int64_t step) const {
  Gate gate;
  gate.arrived = words_ + 1;
  gate.rank = rank;
  gate.ranks = ranks_;
  gate.step = step + 1;
  gate.abort = words_;
  return gate;
}

Nanos* DeviceGroup::duration_word(std::int32_t rank, std::int64_t buffer) const {
  return words_ + 1 + ranks_ + static_cast<std::int64_t>(rank) * in_flight_ + buffer;
}

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

Nanos DeviceClock::event_time(Event event) const {
  const Anchor& last = anchors_[(taken_ - 1) % anchors_.size()];
  const Nanos at = time_from(last, event);
  const auto known = static_cast<std::ptrdiff_t>(std::min(taken_, anchors_.size()));
  const auto nearest = std::min_element(
      anchors_.begin(), anchors_.begin() + known,
      [&](const Anchor& a, const Anchor& b) { return std::abs(a.at - at) < std::abs(b.at - at); });
  return nearest->event.handle == last.event.handle ? at : time_from(*nearest, event);
}

}  // namespace loaderscope::cuda
