// A handle of nvJPEG on one device, with all memory that it may use.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "device/cuda/device_arena.h"
#include "device/cuda/device_objects.h"
#include "device/cuda/nvjpeg_library.h"
#include "device/cuda/runtime.h"

namespace loaderscope::cuda {

// Made and used by one thread, which has chosen the device. It allocates when it is made, and never
// later.
class NvjpegSession {
 public:
  // `place` begins every error: "GPU 0". Throws RunError, also if the GPU has no JPEG engines and
  // the back end needs them, or if nvJPEG has no such back end for the GPU.
  NvjpegSession(Runtime& runtime, std::shared_ptr<Nvjpeg> nvjpeg, std::string place,
                nvjpeg::Backend backend, std::size_t arena_bytes, std::size_t pinned_arena_bytes);
  ~NvjpegSession();
  NvjpegSession(const NvjpegSession&) = delete;
  NvjpegSession& operator=(const NvjpegSession&) = delete;

  Runtime& runtime() { return runtime_; }
  Nvjpeg& nvjpeg() { return *nvjpeg_; }
  DeviceObjects& objects() { return objects_; }
  nvjpeg::Handle handle() const { return handle_; }
  nvjpeg::Header header() const { return header_; }  // the image that was parsed last
  nvjpeg::Backend backend() const { return backend_; }
  bool has_engines() const { return nvjpeg::uses_engines(backend_); }
  unsigned engines() const { return engines_; }  // 0 for the CUDA back end
  unsigned cores() const { return cores_; }      // cores per engine
  const DeviceArena& arena() const { return arena_; }
  const DeviceArena& pinned_arena() const { return pinned_arena_; }

  // Throw RunError for a failed call.
  void check(std::string_view what, nvjpeg::Code code) const;
  void check(std::string_view what, const Status& status) const { objects_.check(what, status); }

  // Gives all objects up, as those of a lost device. No later call reaches nvJPEG or CUDA.
  void abandon();
  bool is_abandoned() const { return is_abandoned_; }

 private:
  void make_handle();
  void refuse_backend(nvjpeg::Code code) const;

  Runtime& runtime_;
  const std::shared_ptr<Nvjpeg> nvjpeg_;
  const nvjpeg::Backend backend_;
  DeviceObjects objects_;
  DeviceArena arena_, pinned_arena_;
  nvjpeg::Allocator allocator_, pinned_allocator_;
  nvjpeg::Handle handle_ = nullptr;
  nvjpeg::Header header_ = nullptr;
  unsigned engines_ = 0, cores_ = 0;
  bool is_abandoned_ = false;
};

// The longest wait at the end of a run, for work that may hang.
inline constexpr Nanos kMaxEndWait = 2 * kSecond;

// The end of a wait for an event that may never come.
struct WaitLimit {
  const std::atomic<int>* stop = nullptr;  // not 0: the run must stop
  Nanos deadline = std::numeric_limits<Nanos>::max();
};

// Waits for an event. Returns false if the limit came first. It never blocks in the driver, because
// engines can hang. Throws RunError, which begins with the place of `objects`, if the device is
// lost.
bool wait_within(Runtime& runtime, const DeviceObjects& objects, Event event,
                 const WaitLimit& limit);

}  // namespace loaderscope::cuda
