// The device's timeline on the host's clock: events whose host time is known (anchors), and every
// other event by the time elapsed from the nearest of them.
#pragma once

#include <array>
#include <cstddef>

#include "device/cuda/device_objects.h"

namespace loaderscope::cuda {

inline constexpr Nanos kAnchorEvery = kSecond;  // clocks drift apart by some 10 us in a second

class DeviceClock {
 public:
  DeviceClock(Runtime& runtime, DeviceObjects& objects);

  // Takes another anchor when the last one is older than kAnchorEvery; not one that is far less
  // certain.
  void keep();
  Nanos time_of(Event event) const;

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
