// GPU 0 during a measurement.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/device_objects.h"
#include "device/cuda/nvjpeg_library.h"
#include "device/cuda/runtime.h"
#include "probe/gpu_loop.h"
#include "probe/measurement.h"
#include "probe/timed_stop.h"

namespace loaderscope::probe {

// Chooses GPU 0 and returns its runtime. Throws RunError with the reason if it cannot be used.
cuda::Runtime& usable_runtime(const ProbeContext& probing);

class ProbedGpu {
 public:
  // Throws RunError with the reason if no GPU can be used here.
  explicit ProbedGpu(const ProbeContext& probing);
  // Frees all objects. If the GPU is lost or its work does not end within two seconds, they are
  // given up instead. Whatever uses them was destroyed before.
  ~ProbedGpu();
  ProbedGpu(const ProbedGpu&) = delete;
  ProbedGpu& operator=(const ProbedGpu&) = delete;

  const ProbeContext& probing() const { return probing_; }
  cuda::Runtime& runtime() { return runtime_; }
  cuda::DeviceObjects& objects() { return objects_; }
  const std::string& name() const { return name_; }  // "NVIDIA H100 80GB HBM3"
  // A stop of the user, or the end of the time in which the GPU must answer.
  const std::atomic<int>& stop() const { return stop_.stop(); }
  cuda::Stream stream();
  // Returns half of the free memory. The rest belongs to the training.
  std::size_t usable_memory();
  void* memory(std::size_t bytes);
  // Returns the distance between the pixels of two images.
  static std::size_t aligned(std::size_t bytes);
  void* host_memory(std::size_t bytes);  // page-locked
  void check(const cuda::Status& status) const { objects_.check("probe", status); }
  // Waits for the work of a stream. Returns false for a stop of the user.
  bool wait(cuda::Stream stream);

  // Throws RunError with the reason if nvJPEG cannot be used here.
  std::shared_ptr<cuda::Nvjpeg> find_nvjpeg() const;

  // Runs loops at the same time. Each counts its pieces for `time`, but at least one piece. Returns
  // false for a stop of the user. Throws RunError if the GPU fails or does not answer.
  bool run(std::span<GpuLoop* const> loops, Nanos time);
  bool run(GpuLoop& loop, Nanos time);

 private:
  bool is_over(std::span<GpuLoop* const> loops, Nanos end);
  bool drain(std::span<GpuLoop* const> loops);
  bool stopped() const;  // false, or throws if the GPU did not answer

  const ProbeContext& probing_;
  cuda::Runtime& runtime_;
  TimedStop stop_;
  std::string name_;
  cuda::DeviceObjects objects_;
  std::vector<cuda::Stream> streams_;
  cuda::Event idle_;
};

}  // namespace loaderscope::probe
