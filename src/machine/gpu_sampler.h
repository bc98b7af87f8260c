// The activity of GPUs while a job is measured, sampled once a second by NVML. It is never a basis
// of the account.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "loaderscope/run_record.h"
#include "machine/gpu_load.h"

namespace loaderscope {

struct GpuSample {
  Nanos at = 0;
  unsigned gpu = 0;
  bool is_ours = false;  // a process of the job computes on it
  double busy = 0, memory_used = 0;
  double memory = 0;  // bytes that it has; 0: unknown
  GpuDetails details;
  PcieLink link, widest;
  std::string address;
};

// Returns the samples in the window, of the GPUs on which the job's processes were seen. If none
// was seen, of all GPUs.
std::vector<GpuSample> samples_of_job(const std::vector<GpuSample>& all, Nanos begin, Nanos end);

// Metrics `gpu.*`, and `link.*` of the weakest link while its GPU worked: one that rests is slower.
// None without a sample.
std::vector<Metric> gpu_load_metrics(const std::vector<GpuSample>& samples);

// A thread that samples; it stops when this goes.
class GpuSampler {
 public:
  explicit GpuSampler(const std::string& library = "libnvidia-ml.so.1", Nanos period = kSecond);
  ~GpuSampler();
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  bool sees_gpus() const { return thread_.joinable(); }
  // So far, of long runs less often than once a period.
  std::vector<GpuSample> samples() const;

 private:
  void watch();
  void take();

  GpuLoads gpus_;
  Nanos period_;
  mutable std::mutex mutex_;
  std::vector<GpuSample> samples_;
  std::atomic<int> stop_{0};
  std::thread thread_;
};

}  // namespace loaderscope
