// Load of GPUs according to NVML, the driver's library, which is loaded at run time.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "machine/gpu_counters.h"

namespace loaderscope {

struct PcieLink {
  int generation = 0, width = 0;  // 0: not known
};

// Reasons why clocks are lower than their maximum.
struct ClockThrottling {
  bool power_limited = false, heat_limited = false;
  bool hardware_limited = false;  // slowed by hardware, for power or heat
  bool setting_limited = false;   // somebody has set them so

  bool is_held() const { return power_limited || heat_limited || hardware_limited; }
};
ClockThrottling held_clocks(unsigned long long reasons);  // NVML's bits

// Details that only a job's own watch asks for: a driver takes 40 ms to measure traffic.
struct GpuDetails {
  double memory_busy = 0;                    // share of the last moments in which its memory worked
  double clock_mhz = 0, most_clock_mhz = 0;  // clock rate of its multiprocessors; 0: not known
  double received = 0, sent = 0;             // bytes per second by PCIe
  ClockThrottling held{};
  // Shares in which its decoders of videos and of images worked; nothing where it has none.
  std::optional<double> decoder{}, jpeg{};
  std::optional<GpuCounters> counters{};  // since the details before
  std::string no_counters{};              // reason why counters are missing for ever
};

struct GpuLoad {
  std::string name;
  double busy = 0;         // share of the last moments, 1/6 to 1 s, in which a kernel ran
  double memory_used = 0;  // bytes
  double memory = 0;
  std::vector<pid_t> processes;  // processes that compute on it, by the numbers of the host
  PcieLink link{}, widest{};     // current link, which is slower when it rests; maximum
  unsigned number = 0;           // the driver's
  std::string address{};         // PCI address: "0000:3b:00.0"; "": not known
};

class GpuLoads {
 public:
  explicit GpuLoads(const std::string& library = "libnvidia-ml.so.1");
  ~GpuLoads();
  GpuLoads(const GpuLoads&) = delete;
  GpuLoads& operator=(const GpuLoads&) = delete;

  // Returns why no load can be read; "" if it can.
  const std::string& unavailable() const { return unavailable_; }
  // One for each GPU, in the driver's order; nothing where there is none.
  std::vector<GpuLoad> read() const;
  // Returns the details of the GPU with that number. Values that the driver does not know are 0.
  GpuDetails details(unsigned number);

 private:
  struct Functions;

  void* library_ = nullptr;
  Functions* functions_ = nullptr;
  std::string unavailable_;
};

}  // namespace loaderscope
