// What works within GPUs, as NVML's performance monitoring (GPM) counts it: Hopper and newer.
#pragma once

#include <map>
#include <memory>
#include <optional>

struct NvmlDevice;

namespace loaderscope {

// Shares of what there is, over the time between two looks.
struct GpuCounters {
  double multiprocessors = 0;  // busy
  double occupancy = 0;        // warps active, of those that there can be
  double tensor_cores = 0;     // busy
  double memory = 0;           // traffic, of the rate that it can have
};

// One thread's.
class GpuCounterReader {
 public:
  // Of NVML's library, which must stay loaded and started.
  explicit GpuCounterReader(void* library);
  ~GpuCounterReader();
  GpuCounterReader(const GpuCounterReader&) = delete;
  GpuCounterReader& operator=(const GpuCounterReader&) = delete;

  // Since the look before at this GPU. Nothing at the first one, and where the GPU, its driver or a
  // part of a GPU (MIG) does not count.
  std::optional<GpuCounters> look(NvmlDevice* gpu);

 private:
  struct Functions;
  struct Sample;
  struct Samples {
    Sample *before = nullptr, *now = nullptr;
    bool has_before = false, is_refused = false;
  };

  bool begin(NvmlDevice* gpu, Samples& samples) const;

  std::unique_ptr<Functions> functions_;
  std::map<NvmlDevice*, Samples> samples_;
};

}  // namespace loaderscope
