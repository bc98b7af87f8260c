// Kernels and copies of a CUDA program, as the GPU records them. The driver loads this library into
// the program (CUDA_INJECTION64_PATH). At the end of the program, the file LOADERSCOPE_CUPTI_FILE
// has a line of JSON for each kernel and each copy, on the clock of the host (CLOCK_MONOTONIC). The
// last line counts the records that were lost.
#include <cupti.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::size_t kAlignment = 8;  // required by CUPTI

std::mutex mutex;  // guards the file: threads of CUPTI complete buffers
std::FILE* file = nullptr;
std::size_t lost = 0;

std::uint64_t host_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void write_interval(const char* kind, std::uint64_t begin, std::uint64_t end, unsigned device,
                    unsigned long long bytes) {
  std::fprintf(file,
               "{\"kind\":\"%s\",\"begin_ns\":%llu,\"end_ns\":%llu,\"device\":%u,\"bytes\":%llu}\n",
               kind, static_cast<unsigned long long>(begin), static_cast<unsigned long long>(end),
               device, bytes);
}

// The newest records begin with the fields of these older ones.
void write_record(const CUpti_Activity& record) {
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel9&>(record);
    write_interval("kernel", kernel.start, kernel.end, kernel.deviceId, 0);
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy5&>(record);
    write_interval("memcpy", copy.start, copy.end, copy.deviceId, copy.bytes);
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = 0;  // no limit
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                          std::size_t, std::size_t valid) {
  const std::lock_guard lock(mutex);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) write_record(*record);
  std::size_t dropped = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
    lost += dropped;
  std::free(buffer);
}

void finish() {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const std::lock_guard lock(mutex);
  std::fprintf(file, "{\"kind\":\"lost\",\"count\":%zu}\n", lost);
  std::fclose(file);
}

bool done(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return true;
  const char* reason = "unknown error";
  cuptiGetResultString(result, &reason);
  std::fprintf(file, "{\"kind\":\"error\",\"message\":\"%s: %s\"}\n", what, reason);
  std::fflush(file);
  return false;
}

}  // namespace

// Called by the driver when the program initialises CUDA.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* path = std::getenv("LOADERSCOPE_CUPTI_FILE");
  file = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return 0;
  if (!done(cuptiActivityRegisterTimestampCallback(host_clock), "the clock") ||
      !done(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "the buffers") ||
      !done(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "kernels") ||
      !done(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), "copies"))
    return 0;
  std::atexit(finish);
  return 1;
}
