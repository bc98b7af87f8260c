// Two GPUs as NVML shows them: the first at 83 %, with 60 of 80 GB in use by this process.
#include <unistd.h>

#include <cstdint>
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
int nvmlDeviceGetComputeRunningProcesses_v3(void* gpu, unsigned* count, Process* processes) {
  *count = gpu == reinterpret_cast<void*>(1) ? 1 : 0;
  if (*count == 1) processes[0] = {static_cast<unsigned>(::getpid()), 1, 0, 0};
  return 0;
}
}
