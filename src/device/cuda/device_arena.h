// A fixed block of memory for the allocator callbacks of nvJPEG. Its own allocations during a run
// would wait for the whole device, and a rank that waits at a gate would then wait for ever.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "device/cuda/nvjpeg_api.h"
#include "device/cuda/runtime.h"

namespace loaderscope::cuda {

// Takes pieces from a block of device memory or of page-locked host memory, first fit, and joins
// free neighbours. It never reads or writes the block, and never calls the CUDA runtime. The block
// belongs to the caller. Several threads may call.
class DeviceArena {
 public:
  static constexpr std::size_t kAlignment = 512;  // bytes; cudaMalloc has 256

  DeviceArena(void* block, std::size_t bytes);
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  // Returns null if no free piece is large enough.
  void* take(std::size_t bytes);
  // Returns false for a place that take() did not return, or that was released before.
  bool release(void* place);

  // Functions for nvjpegCreateExV2. The arena outlives the handle. A piece that was released may be
  // given out again at once. The user of the allocator therefore submits all work to one stream,
  // and waits for a state's work before it uses the state again.
  nvjpeg::Allocator allocator();

  std::size_t bytes() const { return bytes_; }
  std::size_t used() const;
  std::size_t peak() const;         // the largest `used` so far
  std::int64_t failures() const;    // calls of take() that returned null
  std::size_t free_pieces() const;  // 1 if nothing is used

 private:
  std::byte* const block_;
  const std::size_t bytes_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::size_t> free_, taken_;  // begin and size of pieces, from block_
  std::size_t used_ = 0, peak_ = 0;
  std::int64_t failures_ = 0;
};

}  // namespace loaderscope::cuda
