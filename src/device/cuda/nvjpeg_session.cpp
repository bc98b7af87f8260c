#include "device/cuda/nvjpeg_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope::cuda {
namespace {

using nvjpeg::Code;

constexpr Nanos kMinSleep = 20 * kMicrosecond, kMaxSleep = kMillisecond;
constexpr int kSleepShare = 8;  // an event is seen late by at most this part of the wait

}  // namespace

NvjpegSession::NvjpegSession(Runtime& runtime, std::shared_ptr<Nvjpeg> nvjpeg, std::string place,
                             nvjpeg::Backend backend, std::size_t arena_bytes,
                             std::size_t pinned_arena_bytes)
    : runtime_(runtime),
      nvjpeg_(std::move(nvjpeg)),
      backend_(backend),
      objects_(runtime, std::move(place)),
      arena_(objects_.memory(arena_bytes, "memory for nvJPEG"), arena_bytes),
      pinned_arena_(objects_.host_memory(pinned_arena_bytes, "page-locked memory for nvJPEG"),
                    pinned_arena_bytes),
      allocator_(arena_.allocator()),
      pinned_allocator_(pinned_arena_.allocator()) {
  make_handle();
}

NvjpegSession::~NvjpegSession() {
  if (is_abandoned_) return;
  nvjpeg_->free_header(header_);
  nvjpeg_->free_handle(handle_);
}

void NvjpegSession::make_handle() {
  const Code made = nvjpeg_->make_handle(backend_, &allocator_, &pinned_allocator_, handle_);
  if (nvjpeg::reads_device(backend_)) refuse_backend(made);
  const bool has_no_engines = has_engines() && made == Code::arch_mismatch;
  if (!has_no_engines) check("its start", made);
  try {
    if (!has_no_engines && has_engines())
      check("the count of engines", nvjpeg_->count_engines(handle_, engines_, cores_));
    if (has_engines() && engines_ == 0) {
      throw RunError(fmt::format("{} has no JPEG engines", objects_.place()),
                     "give --decode gpu or cpu");
    }
    check("a header", nvjpeg_->make_header(handle_, header_));
  } catch (...) {
    if (!has_no_engines) nvjpeg_->free_handle(handle_);
    throw;
  }
}

// Throws RunError if nvJPEG has no back end that reads device memory, for this GPU.
void NvjpegSession::refuse_backend(Code code) const {
  const bool is_missing = code == Code::arch_mismatch || code == Code::invalid_parameter ||
                          code == Code::implementation_not_supported;
  if (!is_missing || (has_engines() && ask_for_engines(*nvjpeg_).are_missing())) return;
  throw RunError(fmt::format("{}: nvJPEG {} cannot decode images that lie in the memory of this "
                             "GPU ({})",
                             objects_.place(), nvjpeg_->version().text(), name_of(code)),
                 "leave out --resident, or give --resident decoded --decode cpu");
}

void NvjpegSession::check(std::string_view what, Code code) const {
  if (code == Code::success) return;
  throw RunError(fmt::format("{}: nvJPEG failed at {} ({})", objects_.place(), what, name_of(code)),
                 "give --decode cpu");
}

void NvjpegSession::abandon() {
  is_abandoned_ = true;
  objects_.abandon();
}

bool wait_within(Runtime& runtime, const DeviceObjects& objects, Event event,
                 const WaitLimit& limit) {
  static const std::atomic<int> never{0};
  const std::atomic<int>& stop = limit.stop != nullptr ? *limit.stop : never;
  const Nanos begin = runtime.now();
  for (;;) {
    bool is_done = false;
    objects.check("gpu-decode", runtime.query(event, is_done));
    if (is_done) return true;
    const Nanos now = runtime.now();
    if (stop.load(std::memory_order_relaxed) != 0 || now >= limit.deadline) return false;
    runtime.sleep_until(now + std::clamp((now - begin) / kSleepShare, kMinSleep, kMaxSleep), stop);
  }
}

}  // namespace loaderscope::cuda
