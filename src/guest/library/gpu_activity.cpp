#include "guest/library/gpu_activity.h"

#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "base/symbol.h"
#include "base/thread_meter.h"
#include "guest/library/stage_marks.h"

namespace loaderscope::guest::gpu_activity {
namespace {

// Small: a buffer is handed over once all that is in it has ended.
constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kAlignment = 8;     // required by CUPTI
constexpr std::size_t kMaxRecords = 256;  // records of a buffer
constexpr std::chrono::milliseconds kFlushEvery(100);

constexpr const char* kGiven = "LOADERSCOPE_CUPTI";  // environment variable: a path, or kOff
constexpr std::string_view kOff = "off";

// The records of these begin with the fields of the header's. The one that is loaded already comes
// first: two in one process do not work.
constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};
constexpr const char* kElsewhere[] = {"/usr/local/cuda/lib64/libcupti.so",
                                      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"};

// `named`: the one that is wanted; null: any.
void* find_library(const char* named) {
  if (named != nullptr) return ::dlopen(named, RTLD_NOW);
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
  decltype(&cuptiActivitySetAttribute) set_attribute = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiGetResultString) words = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;

  // False: it has not all of them.
  bool load(void* library) {
    const auto find = [&](auto& function, const char* name) {
      return find_symbol(function, library, name);
    };
    return find(set_clock, "cuptiActivityRegisterTimestampCallback") &&
           find(set_buffers, "cuptiActivityRegisterCallbacks") &&
           find(enable, "cuptiActivityEnable") && find(disable, "cuptiActivityDisable") &&
           find(flush_all, "cuptiActivityFlushAll") &&
           find(set_attribute, "cuptiActivitySetAttribute") &&
           find(next_record, "cuptiActivityGetNextRecord") && find(words, "cuptiGetResultString") &&
           find(subscribe, "cuptiSubscribe") && find(unsubscribe, "cuptiUnsubscribe");
  }
};

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY};

Cupti cupti;
StageMarks stage_marks;
std::atomic<Write> write_record = nullptr;  // null: nothing is watched

struct Buffers {
  std::mutex mutex;               // protects calls of write_record, and `given`
  std::set<std::uint8_t*> given;  // buffers that CUPTI has
};
Buffers* buffers = new Buffers;  // CUPTI hands some over while the program's globals are destroyed

std::uint64_t host_clock() { return static_cast<std::uint64_t>(monotonic_now()); }

// Skips activity that has not ended, and so has no times. It comes again later, or never.
void write_if_ended(const GpuRecord& record) {
  const bool has_ended = record.begin > 0 && record.end >= record.begin;
  const Write write = write_record;
  if (has_ended && write != nullptr) write(record);
}

void take_record(const CUpti_Activity& record) {
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel9&>(record);
    write_if_ended({.begin = static_cast<Nanos>(kernel.start),
                    .end = static_cast<Nanos>(kernel.end),
                    .bytes = 0,
                    .call = kernel.correlationId,
                    .kind = GpuRecord::Kind::kernel});
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy5&>(record);
    if (copy.copyKind != CUPTI_ACTIVITY_MEMCPY_KIND_HTOD) return;
    write_if_ended({.begin = static_cast<Nanos>(copy.start),
                    .end = static_cast<Nanos>(copy.end),
                    .bytes = static_cast<Bytes>(copy.bytes),
                    .call = copy.correlationId,
                    .kind = GpuRecord::Kind::copy});
  } else if (const std::optional<CallStage> mark = read_stage_mark(record)) {
    const Write write = write_record;
    if (write == nullptr) return;
    GpuRecord stage;
    stage.call = mark->call;
    stage.kind = GpuRecord::Kind::stage;
    stage.made = mark->stage;
    write(stage);
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = kMaxRecords;
  const std::lock_guard lock(buffers->mutex);
  if (*buffer != nullptr) buffers->given.insert(*buffer);
}

// Another profiler of the process may have given its own out before we came: those are not ours to
// free.
void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  const std::lock_guard lock(buffers->mutex);
  CUpti_Activity* record = nullptr;
  while (cupti.next_record(buffer, valid, &record) == CUPTI_SUCCESS) take_record(*record);
  if (buffers->given.erase(buffer) > 0) std::free(buffer);
}

// CUPTI's own period hands over full buffers alone, and a step ends long before one is full. A
// thread without Python's lock, until the program ends or asks for all there is.
class Flusher {
 public:
  void start() {
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are the program's threads'
    runs_ = wanted_ = true;
    std::thread([this] { run(); }).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  void stop() {
    std::unique_lock lock(mutex_);
    wanted_ = false;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !runs_; });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kFlushEvery, [this] { return !wanted_; })) {
      lock.unlock();
      cupti.flush_all(0);
      lock.lock();
    }
    runs_ = false;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool runs_ = false, wanted_ = false;
};

Flusher* flusher = new Flusher;  // never destroyed, as its thread may outlive the globals

// Returns the sentence of a failure. The program keeps running unchanged.
const char* refusal(const char* what, CUptiResult result) {
  static std::string& text = *new std::string;
  const char* reason = "unknown error";
  cupti.words(result, &reason);
  text = std::string("CUPTI refuses ") + what + ": " + reason;
  return text.c_str();
}

void CUPTIAPI take_no_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

// There can be one subscriber: a tool that the program runs under would lose its records to us.
CUptiResult look_for_another() {
  CUpti_SubscriberHandle subscriber = nullptr;
  const CUptiResult result = cupti.subscribe(&subscriber, take_no_callback, nullptr);
  return result == CUPTI_SUCCESS ? cupti.unsubscribe(subscriber) : result;
}

// Versions of CUPTI without the attribute ignore it.
void set_flag(CUpti_ActivityAttribute attribute, std::uint8_t value) {
  std::size_t bytes = sizeof(value);
  cupti.set_attribute(attribute, &bytes, &value);
}

}  // namespace

const char* watch(Write write) {
  const char* named = std::getenv(kGiven);
  if (named != nullptr && named == kOff) return "LOADERSCOPE_CUPTI is off";
  void* library = find_library(named);
  if (library == nullptr) return "there is no libcupti.so.13 or libcupti.so.12";
  if (!cupti.load(library)) return "its libcupti is too old";
  stage_marks.load(library);
  CUptiResult result = look_for_another();
  if (result != CUPTI_SUCCESS) return refusal("a second profiler", result);
  // One buffer for all threads. With a buffer per thread, the kernels of forward and backward would
  // arrive at different times.
  set_flag(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 0);
  // Host memory for the GPU's records, because the program may leave no GPU memory free.
  set_flag(CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, 1);
  result = cupti.set_clock(host_clock);
  if (result != CUPTI_SUCCESS) return refusal("the clock", result);
  result = cupti.set_buffers(give_buffer, take_buffer);
  if (result != CUPTI_SUCCESS) return refusal("the buffers", result);
  write_record = write;
  for (const CUpti_ActivityKind kind : kKinds) {
    result = cupti.enable(kind);
    if (result == CUPTI_SUCCESS) continue;
    record(false);
    write_record = nullptr;
    return refusal("to record", result);
  }
  flusher->start();
  return nullptr;
}

void record(bool on) {
  if (write_record == nullptr) return;
  for (const CUpti_ActivityKind kind : kKinds) on ? cupti.enable(kind) : cupti.disable(kind);
  stage_marks.record(on);
}

bool begin_stage(Stage stage) { return write_record != nullptr && stage_marks.begin(stage); }
void end_stage() { stage_marks.end(); }

void flush() {
  if (write_record == nullptr) return;
  flusher->stop();
  cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

void stop() {
  record(false);
  flush();
  const std::lock_guard lock(buffers->mutex);
  write_record = nullptr;
}

// Drops the state in the child of a fork. The locks and their threads belong to the parent.
void forget() {
  if (write_record == nullptr) return;
  write_record = nullptr;
  buffers = new Buffers;
  flusher = new Flusher;
}

}  // namespace loaderscope::guest::gpu_activity
