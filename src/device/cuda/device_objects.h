// Runtime objects that belong to a device, or to all devices of a run. They are freed together, in
// the reverse order.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda/runtime.h"

namespace loaderscope::cuda {

class DeviceObjects {
 public:
  // `place` begins every error: "GPU 0". The runtime outlives this object; the thread that ends it
  // has chosen the device.
  DeviceObjects(Runtime& runtime, std::string place);
  ~DeviceObjects();
  DeviceObjects(const DeviceObjects&) = delete;
  DeviceObjects& operator=(const DeviceObjects&) = delete;

  const std::string& place() const { return place_; }
  void check(std::string_view what, const Status& status) const;

  Stream stream();
  Event event();
  void* memory(std::size_t bytes, std::string_view what);
  void* host_memory(std::size_t bytes, std::string_view what);  // page-locked
  void keep(Graph graph);
  void products();  // prepares matrix products on the chosen device
  // Gives up what belongs to a lost device: nothing is freed.
  void abandon() { frees_.clear(); }

 private:
  Runtime& runtime_;
  std::string place_;
  std::vector<std::function<void()>> frees_;
};

// The devices of one run together: the words in page-locked memory that their kernels look at.
class DeviceGroup {
 public:
  DeviceGroup(std::shared_ptr<Runtime> runtime, std::int32_t ranks, std::int32_t in_flight,
              bool barrier);

  Runtime& runtime() { return *runtime_; }
  std::int32_t ranks() const { return ranks_; }
  bool has_barrier() const { return barrier_; }

  // Makes copies from pageable host memory synchronous. Call it from the thread that allocates such
  // memory.
  void copies_block() { copies_block_.store(true); }
  bool do_copies_block() const { return copies_block_.load(); }

  // Ends every kernel of the run now, including those that wait at a gate. Callable from any
  // thread.
  void end();
  // After that, an event may be done because its kernel was cut off.
  bool has_ended() const;

  const AbortWord* abort() const { return words_; }
  // The gate before the compute of `step` of `rank`. It waits on the devices and not on the host. A
  // trainer that waited for the other ranks before it launched could not take its next batch in the
  // meantime. Computes that were launched together would still begin one after another.
  Gate gate(std::int32_t rank, std::int64_t step) const;
  // Duration of the compute of that buffer, for kernels that were recorded beforehand.
  Nanos* duration_word(std::int32_t rank, std::int64_t buffer) const;

 private:
  std::shared_ptr<Runtime> runtime_;
  std::int32_t ranks_, in_flight_;
  bool barrier_;
  std::atomic<bool> copies_block_{false};
  DeviceObjects objects_;
  std::int64_t* words_;  // abort; arrived per rank; durations per rank and buffer
};

// The device's timeline on the host's clock: events whose host time is known (anchors), and every
// other event by the time elapsed from the nearest of them.
inline constexpr Nanos kAnchorEvery = kSecond;  // clocks drift apart by some 10 us in a second

class DeviceClock {
 public:
  DeviceClock(Runtime& runtime, DeviceObjects& objects);

  // Takes another anchor when the last one is older than kAnchorEvery; not one that is far less
  // certain.
  void keep();
  Nanos event_time(Event event) const;

  Nanos error() const { return error_; }  // the largest uncertainty of an anchor
  // The largest time by which the clocks had drifted apart between two anchors.
  Nanos drift() const { return drift_; }

 private:
  struct Anchor {
    Event event;
    Nanos at = 0;
    Nanos error = 0;  // half width: the true time is at - error to at + error
  };

  void take_anchor();
  void measure(Anchor& anchor);
  Nanos time_from(const Anchor& anchor, Event event) const;

  Runtime& runtime_;
  DeviceObjects& objects_;
  Stream stream_;                   // own stream, which never waits for a copy or a compute
  std::array<Anchor, 64> anchors_;  // a step may take that many seconds
  std::size_t taken_ = 0;
  Nanos tried_ = 0;  // time of the last attempt to take an anchor
  Anchor spare_;
  Nanos error_ = 0, drift_ = 0;
};

}  // namespace loaderscope::cuda
