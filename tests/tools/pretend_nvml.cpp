// Two GPUs as NVML shows them: the first at 83 %, with 60 of 80 GB in use by this process. Its
// clock is 1,200 of 1,980 MHz, and 5 GB/s come by PCIe; why the clock is lower is what the
// environment's PRETEND_NVML_REASONS says, a number.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {

struct Utilization {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned instance, compute_instance;
};

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** gpu) {
  *gpu = reinterpret_cast<void*>(std::uintptr_t{index} + 1);
  return 0;
}
int nvmlDeviceGetName(void*, char* name, unsigned size) {
  std::strncpy(name, "Pretender", size);
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* gpu, Utilization* rates) {
  *rates = gpu == reinterpret_cast<void*>(1) ? Utilization{83, 40} : Utilization{0, 0};
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  *memory = {80'000'000'000, 20'000'000'000, 60'000'000'000};
  return 0;
}
// The second has half of its lanes.
int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* generation) {
  *generation = 4;
  return 0;
}
int nvmlDeviceGetCurrPcieLinkWidth(void* gpu, unsigned* width) {
  *width = gpu == reinterpret_cast<void*>(1) ? 16 : 8;
  return 0;
}
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* generation) {
  *generation = 5;
  return 0;
}
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* width) {
  *width = 16;
  return 0;
}
struct Pci {
  char legacy_address[16];
  unsigned domain, bus, device, ids, subsystem;
  char address[32];
};
int nvmlDeviceGetPciInfo_v3(void* gpu, Pci* pci) {
  *pci = {"", 0, gpu == reinterpret_cast<void*>(1) ? 0x3bU : 0x86U, 0, 0, 0, ""};
  return 0;
}
int nvmlDeviceGetDecoderUtilization(void*, unsigned* percent, unsigned* period) {
  *percent = 30;
  *period = 166'667;
  return 0;
}
// A GPU without such a decoder: not supported.
int nvmlDeviceGetJpgUtilization(void*, unsigned*, unsigned*) { return 3; }
int nvmlDeviceGetClockInfo(void*, int type, unsigned* megahertz) {
  *megahertz = type == 1 ? 1200 : 9999;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, int type, unsigned* megahertz) {
  *megahertz = type == 1 ? 1980 : 9999;
  return 0;
}
int nvmlDeviceGetPcieThroughput(void*, int direction, unsigned* kilobytes) {
  *kilobytes = direction == 1 ? 5'000'000 : 40'000;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  const char* said = std::getenv("PRETEND_NVML_REASONS");
  *reasons = said == nullptr ? 1 : std::strtoull(said, nullptr, 0);
  return 0;
}
// The first GPU counts: a sample holds its number, and what is counted lies between two of them.
struct Support {
  unsigned version, is_supported;
};
struct Counter {
  unsigned id;
  int result;
  double value;
  char* names[3];
};
struct Counters {
  unsigned version, count;
  int *before, *now;
  Counter counters[333];
};
int nvmlGpmQueryDeviceSupport(void* gpu, Support* support) {
  if (support->version != 1) return 25;
  support->is_supported = gpu == reinterpret_cast<void*>(1) ? 1 : 0;
  return 0;
}
int nvmlGpmSampleAlloc(int** sample) {
  *sample = new int(-1);
  return 0;
}
int nvmlGpmSampleFree(int* sample) {
  delete sample;
  return 0;
}
int nvmlGpmSampleGet(void*, int* sample) {
  static int number = 0;
  *sample = number++;
  return 0;
}
int nvmlGpmMetricsGet(Counters* metrics) {
  std::memset(&metrics->counters[metrics->count], 0, sizeof(Counter) * (333 - metrics->count));
  if (metrics->version != 1 || metrics->before == nullptr || *metrics->before < 0 ||
      *metrics->now <= *metrics->before)
    return 2;
  for (unsigned i = 0; i < metrics->count; ++i) {
    Counter& counter = metrics->counters[i];
    const bool is_known = counter.id == 2 || counter.id == 3 || counter.id == 5 || counter.id == 10;
    counter.result = is_known ? 0 : 3;
    counter.value = counter.id == 10 ? 100.4 : counter.id;  // percent
  }
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* gpu, unsigned* count, Process* processes) {
  *count = gpu == reinterpret_cast<void*>(1) ? 1 : 0;
  if (*count == 1) processes[0] = {static_cast<unsigned>(::getpid()), 1, 0, 0};
  return 0;
}
}
