// Takes the place of libcupti (LOADERSCOPE_CUPTI) in a program without a GPU. The program reports
// the work of its pretend GPU by pretend_kernel() and pretend_copy(). Records are delivered as
// CUPTI 13 does: in buffers of the subscriber, from a thread of its own, when a buffer is full or
// all are flushed. Each thread that launches has a buffer, unless an attribute says otherwise. The
// stage of a launch is written only for calls that are recorded, before the kernel, or after it if
// PRETEND_LATE_MARKS is set.
#include <cupti.h>
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#define PRETEND extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::size_t kRecords = 4;  // records per buffer

union Record {
  CUpti_ActivityKernel9 kernel;
  CUpti_ActivityMemcpy5 copy;
  CUpti_ActivityAPI call;
  CUpti_ActivityExternalCorrelation mark;
};

std::mutex mutex;
CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
CUpti_TimestampCallbackFunc clock_of_host = nullptr;
std::set<CUpti_ActivityKind> enabled;
bool per_thread = true;
bool is_in_host_memory = false;  // place of the records that the GPU writes
bool takes_gpu_memory = false;
std::set<CUpti_CallbackId> recorded_calls;  // calls of the runtime
std::atomic<std::uint32_t> calls = 0;       // calls that have started work
thread_local std::vector<std::uint64_t> marks;

struct Buffer {
  std::uint8_t* begin = nullptr;
  std::size_t size = 0, used = 0;
};
std::map<std::thread::id, Buffer> buffers;

void hand_over(Buffer& buffer) {
  if (buffer.begin == nullptr) return;
  std::thread(complete, nullptr, 0, buffer.begin, buffer.size, buffer.used).join();
  buffer = {};
}

void add(const Record& record) {
  std::size_t most = 0;
  Buffer& buffer = buffers[per_thread ? std::this_thread::get_id() : std::thread::id()];
  if (buffer.begin == nullptr) request(&buffer.begin, &buffer.size, &most);
  std::memcpy(buffer.begin + buffer.used, &record, sizeof record);
  buffer.used += sizeof record;
  if (buffer.used == kRecords * sizeof record) hand_over(buffer);
}

// Adds the records of a call that starts work.
void add_call(CUpti_CallbackId name, std::uint32_t number) {
  if (recorded_calls.count(name) == 0) return;
  if (!marks.empty() && enabled.count(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) > 0) {
    Record record{};
    record.mark.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.mark.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
    record.mark.externalId = marks.back();
    record.mark.correlationId = number;
    add(record);
  }
  Record record{};
  record.call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  record.call.cbid = name;
  record.call.correlationId = number;
  add(record);
}

// Adds the record of work, which the call with this number has started.
void add_work(CUpti_CallbackId name, std::uint32_t number, CUpti_ActivityKind kind,
              const Record& record) {
  const std::lock_guard lock(mutex);
  const bool is_late = std::getenv("PRETEND_LATE_MARKS") != nullptr;
  if (!is_late) add_call(name, number);
  if (enabled.count(kind) > 0) add(record);
  if (is_late) add_call(name, number);
}

}  // namespace

PRETEND CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*) {
  return std::getenv("PRETEND_REFUSES") != nullptr ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
                                                   : CUPTI_SUCCESS;
}

PRETEND CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) { return CUPTI_SUCCESS; }

PRETEND CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
  clock_of_host = function;
  return CUPTI_SUCCESS;
}

PRETEND CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc give,
                                                   CUpti_BuffersCallbackCompleteFunc take) {
  request = give;
  complete = take;
  return CUPTI_SUCCESS;
}

PRETEND CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex);
  enabled.insert(kind);
  takes_gpu_memory |= !is_in_host_memory;
  return CUPTI_SUCCESS;
}

PRETEND CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex);
  enabled.erase(kind);
  return CUPTI_SUCCESS;
}

PRETEND CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  const std::lock_guard lock(mutex);
  for (auto& [thread, buffer] : buffers) hand_over(buffer);
  return CUPTI_SUCCESS;
}

PRETEND CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, std::size_t*,
                                              void* value) {
  if (attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER)
    per_thread = *static_cast<std::uint8_t*>(value) != 0;
  if (attribute == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED)
    is_in_host_memory = *static_cast<std::uint8_t*>(value) != 0;
  return CUPTI_SUCCESS;
}

PRETEND CUptiResult cuptiActivityGetNextRecord(std::uint8_t* from, std::size_t valid,
                                               CUpti_Activity** record) {
  auto* next =
      *record == nullptr ? from : reinterpret_cast<std::uint8_t*>(*record) + sizeof(Record);
  if (next >= from + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

PRETEND CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                                           std::uint64_t id) {
  marks.push_back(id);
  return CUPTI_SUCCESS;
}

PRETEND CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                                          std::uint64_t* last) {
  if (marks.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  *last = marks.back();
  marks.pop_back();
  return CUPTI_SUCCESS;
}

PRETEND CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId call, std::uint8_t on) {
  if (std::getenv("PRETEND_NO_CALLS") != nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
  const std::lock_guard lock(mutex);
  if (on != 0)
    recorded_calls.insert(call);
  else
    recorded_calls.erase(call);
  return CUPTI_SUCCESS;
}

PRETEND CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, std::uint8_t) {
  return std::getenv("PRETEND_NO_CALLS") != nullptr ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_SUCCESS;
}

PRETEND CUptiResult cuptiGetResultString(CUptiResult, const char** words) {
  *words = "another profiler is attached";
  return CUPTI_SUCCESS;
}

namespace {

std::uint8_t* held = nullptr;  // a buffer of the subscriber

}  // namespace

// A buffer that is handed over only when the program's globals have been destroyed, as CUPTI may do
// at a program's end: `pretend_release_buffer` is for __cxa_atexit.
PRETEND void pretend_hold_buffer() {
  std::size_t size = 0, most = 0;
  if (request != nullptr) request(&held, &size, &most);
}

PRETEND void pretend_release_buffer(void*) {
  if (held != nullptr) complete(nullptr, 0, held, 0, 0);
}

// Functions for the program. Times are those of the clock that was registered.
PRETEND std::uint64_t pretend_now() { return clock_of_host != nullptr ? clock_of_host() : 0; }

// Number of kinds of calls that are recorded.
PRETEND int pretend_recorded_calls() { return static_cast<int>(recorded_calls.size()); }

PRETEND int pretend_took_gpu_memory() { return takes_gpu_memory ? 1 : 0; }

PRETEND void pretend_kernel(std::uint64_t begin, std::uint64_t end) {
  Record record{};
  record.kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.kernel.start = begin;
  record.kernel.end = end;
  record.kernel.correlationId = ++calls;
  add_work(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, record.kernel.correlationId,
           CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, record);
}

PRETEND void pretend_copy(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) {
  Record record{};
  record.copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  record.copy.start = begin;
  record.copy.end = end;
  record.copy.bytes = bytes;
  record.copy.correlationId = ++calls;
  add_work(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, record.copy.correlationId,
           CUPTI_ACTIVITY_KIND_MEMCPY, record);
}

#ifdef NVTX_VERSION
// A range of DALI in this thread, in which its operator launches a kernel.
PRETEND void pretend_operator(const char* range, std::uint64_t begin, std::uint64_t end) {
  static nvtxDomainHandle_t const dali = nvtxDomainCreateA("DALI");
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = range;
  nvtxDomainRangePushEx(dali, &attributes);
  pretend_kernel(begin, end);
  nvtxDomainRangePop(dali);
}
#endif
