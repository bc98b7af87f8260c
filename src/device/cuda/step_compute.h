// The compute of a step on the device: kernels that spin for the declared time, or a series of
// matrix products that takes as long.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/cuda/device_objects.h"
#include "loaderscope/run_config.h"

namespace loaderscope::cuda {

// The parts of a step's time. Kernels that spin have only `spun`.
struct LaunchedWork {
  std::int64_t products = 0;
  Nanos spun = 0;
};

class StepCompute {
 public:
  // Everything is allocated, loaded, measured and recorded here: kernels of ranks that wait for
  // each other must not meet a call that waits for the whole device.
  StepCompute(DeviceGroup& gang, DeviceObjects& objects, const RunConfig& config, std::int32_t rank,
              Stream stream);

  // Launches on the stream. Requires that no step that still computes uses `buffer`.
  LaunchedWork launch(std::int64_t buffer, Nanos duration);
  // Corrects the products with the time that they took on the device. Only the first steps do so,
  // which are mostly warm-up, so that the measured steps have the same work. Products are as fast
  // as the clock rate under load.
  void correct(const LaunchedWork& launched, Nanos took);
  // True if its kernels are launched one by one and take a known time, so that the gaps between
  // their launches are known, too.
  bool shows_gaps() const { return product_ == 0 && graphs_.empty() && kernels_ > 1; }
  // Time of queued spinning kernels for the requested `duration`. The minimum is the time that the
  // GPU needs to begin and end each kernel.
  Nanos takes(Nanos duration) const;
  // "compute: 2048 x 2048 matrices of cuBLAS 13.0.2, 0.152 ms each"; "" for kernels that spin
  // as long as is asked for.
  std::string description() const { return description_; }

 private:
  void warm_up();
  void record_graphs(std::int32_t rank, std::int64_t buffers);
  void calibrate(Nanos step);
  void allocate_matrices(std::int32_t size);
  void warm_clock();
  // Time of the launched work on the device.
  double measure_milliseconds(const char* setting, const std::function<void()>& launch);
  double milliseconds_of_products(std::int32_t size);  // time of a series of products
  Nanos measure_product(std::int32_t size);
  Nanos settled_product(std::int32_t size, Nanos first);
  void measure_cost(Nanos step);
  Nanos cost_in_series();
  void launch_kernels(std::int64_t buffer, std::int64_t kernels, Nanos spun);
  LaunchedWork launch_products(Nanos duration);
  Spin make_spin(Nanos duration) const;

  DeviceGroup& gang_;
  Runtime& runtime_;
  DeviceObjects& objects_;
  Stream stream_;
  std::int64_t kernels_;
  Event timing_begin_, timing_end_;
  std::vector<Graph> graphs_;  // per buffer; empty: kernels are launched one by one
  std::vector<Nanos*> durations_;
  Gemm gemm_;
  Nanos cost_ = 0;               // ns of a kernel besides its spin; unknown for a single kernel
  Nanos product_ = 0;            // the time of one; 0: kernels spin
  std::int64_t to_correct_ = 0;  // steps that still say how long it is
  std::string description_;
};

}  // namespace loaderscope::cuda
