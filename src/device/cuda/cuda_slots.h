// Host slots that the CUDA runtime knows as page-locked, and ranges of memory that are registered
// with it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/device_objects.h"
#include "loaderscope/device.h"

namespace loaderscope::cuda {

// Existing memory, private or shared between processes, page-locked by the driver in chunks of
// whole slots: a copy never crosses from one chunk into the next.
class RegisteredRange {
 public:
  static constexpr Bytes kChunk = Bytes{256} << 20;

  RegisteredRange(Runtime& runtime, std::byte* begin, std::size_t slots, Bytes slot_bytes,
                  Bytes chunk = kChunk);
  ~RegisteredRange();
  RegisteredRange(const RegisteredRange&) = delete;
  RegisteredRange& operator=(const RegisteredRange&) = delete;

  const Status& status() const { return status_; }  // not ok: nothing of it is registered
  Bytes bytes() const { return bytes_; }

 private:
  void unregister();

  Runtime& runtime_;
  std::vector<std::byte*> chunks_;
  Bytes bytes_ = 0;
  Status status_;
};

// If page-locking fails, the slots are ordinary memory, and fallback_reason() returns the cause.
std::unique_ptr<HostSlots> make_cuda_slots(std::shared_ptr<DeviceGroup> gang, int device,
                                           MemoryMode mode, std::size_t count, Bytes slot_bytes);
// Shared memory, registered unless the mode is pageable; as MemoryRow::wrap_existing.
std::unique_ptr<HostSlots> wrap_cuda_slots(std::shared_ptr<DeviceGroup> gang, int device,
                                           MemoryMode mode, std::byte* place, std::size_t count,
                                           Bytes slot_bytes);

}  // namespace loaderscope::cuda
