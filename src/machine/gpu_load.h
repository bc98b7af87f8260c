// How busy GPUs are, as NVML says: the driver's library, loaded at run time.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace loaderscope {

struct PcieLink {
  int generation = 0, width = 0;  // 0: not known
};

struct GpuLoad {
  std::string name;
  double busy = 0;         // share of the last moments, 1/6 to 1 s, in which a kernel ran
  double memory_used = 0;  // bytes
  double memory = 0;
  std::vector<pid_t> processes;  // that compute on it, by the numbers of the host
  PcieLink link{}, widest{};     // as it is now, a link that rests slower; as it can be
};

class GpuLoads {
 public:
  explicit GpuLoads(const std::string& library = "libnvidia-ml.so.1");
  ~GpuLoads();
  GpuLoads(const GpuLoads&) = delete;
  GpuLoads& operator=(const GpuLoads&) = delete;

  // Why there is nothing to read; "" where there is.
  const std::string& unavailable() const { return unavailable_; }
  // One for each GPU, in the driver's order; nothing where there is none.
  std::vector<GpuLoad> read() const;

 private:
  struct Functions;

  void* library_ = nullptr;
  Functions* functions_ = nullptr;
  std::string unavailable_;
};

}  // namespace loaderscope
