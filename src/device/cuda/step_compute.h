// What computes a step on the device: kernels that spin for the declared time, or a series of
// matrix products that takes as long.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/cuda/device_group.h"
#include "loaderscope/run_config.h"

namespace loaderscope::cuda {

// What a step's time was made of; of kernels that spin all is spun.
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

  // On the stream; `buffer` is not in use by a step that still computes.
  LaunchedWork launch(std::int64_t buffer, Nanos duration);
  // What it took on the device: of the first steps, which are mostly warm-up, so that the work of
  // those that count stays the same. Products are as fast as the clock that the load leaves.
  void correct(const LaunchedWork& launched, Nanos took);
  // Its kernels are launched one by one and take a time that is known: so is what their launches
  // leave between them.
  bool shows_gaps() const { return product_ == 0 && graphs_.empty() && kernels_ > 1; }
  // What spinning kernels take that are queued, for the time that is asked for: at least what the
  // GPU needs to begin and to end each.
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
  // Of what is launched, on the device.
  double milliseconds_of(const char* setting, const std::function<void()>& launch);
  double milliseconds_of_products(std::int32_t size);  // of a series of them
  Nanos measure_product(std::int32_t size);
  Nanos settled_product(std::int32_t size, Nanos first);
  void measure_cost(Nanos step);
  Nanos cost_in_series();
  void launch_kernels(std::int64_t buffer, std::int64_t kernels, Nanos spun);
  LaunchedWork launch_products(Nanos duration);
  Spin spin_of(Nanos duration) const;

  DeviceGroup& gang_;
  Runtime& runtime_;
  DeviceObjects& objects_;
  Stream stream_;
  std::int64_t kernels_;
  Event timing_begin_, timing_end_;
  std::vector<Graph> graphs_;  // per buffer; empty: kernels are launched one by one
  std::vector<Nanos*> durations_;
  Gemm gemm_;
  Nanos cost_ = 0;               // of a kernel beside its spin; not known of a single one
  Nanos product_ = 0;            // the time of one; 0: kernels spin
  std::int64_t to_correct_ = 0;  // steps that still say how long it is
  std::string description_;
};

}  // namespace loaderscope::cuda
