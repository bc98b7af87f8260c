// Activity of the parts of GPUs, as NVML's performance monitoring (GPM) counts it: Hopper and
// newer.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

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
  // `library`: NVML's library, which must stay loaded and started.
  explicit GpuCounterReader(void* library);
  ~GpuCounterReader();
  GpuCounterReader(const GpuCounterReader&) = delete;
  GpuCounterReader& operator=(const GpuCounterReader&) = delete;

  // Since the look before at this GPU. Nothing at the first one, and where the GPU, its driver or a
  // part of a GPU (MIG) does not count.
  std::optional<GpuCounters> look(NvmlDevice* gpu);
  // Returns why the latest sample was empty: "not supported by this GPU". "" if it had values, or
  // later ones will.
  std::string why_not(NvmlDevice* gpu) const;

 private:
  struct Functions;
  struct Sample;
  struct Samples {
    Sample *before = nullptr, *now = nullptr;
    bool has_before = false;
    std::string why_none{};  // not even later
    int error = 0;           // error of the latest sample
  };

  std::string begin(NvmlDevice* gpu, Samples& samples) const;

  std::unique_ptr<Functions> functions_;
  std::map<NvmlDevice*, Samples> samples_;
};

}  // namespace loaderscope
