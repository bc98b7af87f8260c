// The devices of one run together: the words in page-locked memory that their kernels look at.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "device/cuda/device_objects.h"

namespace loaderscope::cuda {

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

}  // namespace loaderscope::cuda
