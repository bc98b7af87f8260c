#include "guest/library/gpu_activity.h"

#include <cupti.h>
#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <string>

#include "base/thread_meter.h"

namespace loaderscope::guest::gpu_activity {
namespace {

// Small: a buffer is handed over once all that is in it has ended.
constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kAlignment = 8;  // that CUPTI asks for
constexpr std::uint32_t kFlushEveryMs = 100;

constexpr const char* kGiven = "LOADERSCOPE_CUPTI";  // environment variable: the path of one

// The records of these begin with the fields of the header's. The one that is loaded already comes
// first: two in one process do not work.
constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};
constexpr const char* kElsewhere[] = {"/usr/local/cuda/lib64/libcupti.so",
                                      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};

void* find_library() {
  if (const char* given = std::getenv(kGiven)) return ::dlopen(given, RTLD_NOW);
  for (const char* name : kNames) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return library;
  }
  for (const char* name : kNames) {
    if (void* library = ::dlopen(name, RTLD_NOW)) return library;
  }
  for (const char* path : kElsewhere) {
    if (void* library = ::dlopen(path, RTLD_NOW)) return library;
  }
  return nullptr;
}

struct Cupti {
  decltype(&cuptiActivityRegisterTimestampCallback) set_clock = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) set_buffers = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityFlushPeriod) flush_every = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiGetResultString) words = nullptr;

  // False: it has not all of them.
  bool load(void* library) {
    const auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      return function != nullptr;
    };
    return find(set_clock, "cuptiActivityRegisterTimestampCallback") &&
           find(set_buffers, "cuptiActivityRegisterCallbacks") &&
           find(enable, "cuptiActivityEnable") && find(disable, "cuptiActivityDisable") &&
           find(flush_all, "cuptiActivityFlushAll") &&
           find(flush_every, "cuptiActivityFlushPeriod") &&
           find(next_record, "cuptiActivityGetNextRecord") && find(words, "cuptiGetResultString");
  }
};

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY};

Cupti cupti;
Write write_record = nullptr;  // null: nothing is watched
std::mutex mutex;              // of write_record's calls

std::uint64_t host_clock() { return static_cast<std::uint64_t>(monotonic_now()); }

void take_record(const CUpti_Activity& record) {
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel9&>(record);
    write_record({static_cast<Nanos>(kernel.start), static_cast<Nanos>(kernel.end), 0, false});
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy5&>(record);
    if (copy.copyKind != CUPTI_ACTIVITY_MEMCPY_KIND_HTOD) return;
    write_record({static_cast<Nanos>(copy.start), static_cast<Nanos>(copy.end),
                  static_cast<Bytes>(copy.bytes), true});
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  const std::lock_guard lock(mutex);
  CUpti_Activity* record = nullptr;
  while (cupti.next_record(buffer, valid, &record) == CUPTI_SUCCESS) take_record(*record);
  std::free(buffer);
}

// What goes wrong is said once; the program goes on as it was.
const char* refusal(const char* what, CUptiResult result) {
  static std::string text;
  const char* reason = "unknown error";
  cupti.words(result, &reason);
  text = std::string("CUPTI refuses ") + what + ": " + reason;
  return text.c_str();
}

}  // namespace

const char* watch(Write write) {
  void* library = find_library();
  if (library == nullptr) return "there is no libcupti.so.13 or libcupti.so.12";
  if (!cupti.load(library)) return "its libcupti is too old";
  CUptiResult result = cupti.set_clock(host_clock);
  if (result != CUPTI_SUCCESS) return refusal("the clock", result);
  result = cupti.set_buffers(give_buffer, take_buffer);
  if (result != CUPTI_SUCCESS) return refusal("the buffers", result);
  cupti.flush_every(kFlushEveryMs);  // without it buffers come when they are full
  write_record = write;
  for (const CUpti_ActivityKind kind : kKinds) {
    result = cupti.enable(kind);
    if (result == CUPTI_SUCCESS) continue;
    record(false);
    write_record = nullptr;
    return refusal("to record", result);
  }
  return nullptr;
}

void record(bool on) {
  if (write_record == nullptr) return;
  for (const CUpti_ActivityKind kind : kKinds) on ? cupti.enable(kind) : cupti.disable(kind);
}

void flush() {
  if (write_record == nullptr) return;
  cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

}  // namespace loaderscope::guest::gpu_activity
