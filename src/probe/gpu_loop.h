// Work that a GPU does again and again, alone and at the same time as other work.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "device/cuda/device_objects.h"
#include "device/cuda/runtime.h"
#include "probe/measurement.h"

namespace loaderscope::probe {

// One kind of work, in pieces on one stream. One thread makes all calls.
class GpuLoop {
 public:
  // Keeps `in_flight` pieces submitted. `objects` outlives the loop.
  GpuLoop(cuda::Runtime& runtime, cuda::DeviceObjects& objects, std::size_t in_flight);
  virtual ~GpuLoop() = default;
  GpuLoop(const GpuLoop&) = delete;
  GpuLoop& operator=(const GpuLoop&) = delete;

  // Forgets the pieces of an earlier measurement. Requires that all have ended.
  void restart();
  // Submits pieces until enough are in flight. Returns false if the work was stopped.
  bool fill();
  // Returns true if a piece has ended since the last call.
  bool take_finished();
  bool is_idle() const { return pending_.empty(); }
  // True once the first pieces have ended, which were submitted to an idle GPU.
  bool has_led() const { return finished_ >= in_flight_; }
  // Measures the pieces that end from now on.
  void count_from_now() { is_counting_ = true; }
  void stop_counting() { is_counting_ = false; }
  std::size_t counted() const { return seconds_.size(); }
  // Counted pieces per second, by the clock of the device: the median of three parts.
  Rate pieces_per_s() const;

 protected:
  cuda::Runtime& runtime() { return runtime_; }
  void check(const cuda::Status& status) const { objects_.check("probe", status); }

 private:
  // Submits a piece, and records `end` after it. Returns false if the work was stopped.
  virtual bool submit(cuda::Event end) = 0;

  cuda::Runtime& runtime_;
  cuda::DeviceObjects& objects_;
  const std::size_t in_flight_;
  std::deque<cuda::Event> pending_;  // ends of submitted pieces
  std::vector<cuda::Event> free_;
  cuda::Event last_;  // end of the piece that ended last; null before the first
  std::size_t finished_ = 0;
  bool is_counting_ = false;
  std::vector<double> seconds_;  // times between the ends of counted pieces
};

}  // namespace loaderscope::probe
