// The two ends of what a training step does on a GPU: matrix products, and copies within its
// memory.
#pragma once

#include <cstdint>
#include <string>

#include "probe/gpu_loop.h"
#include "probe/probed_gpu.h"

namespace loaderscope::probe {

// A piece takes about a millisecond. Many are in flight, so that the GPU always has work while the
// host prepares other work.
class TrainingLoop : public GpuLoop {
 public:
  explicit TrainingLoop(ProbedGpu& gpu);

  // Chooses the amount of work of a piece. Returns false for a stop of the user.
  bool calibrate();
  std::int64_t launches() const { return launches_; }  // number in a piece
  virtual std::string description() const = 0;         // condition of its figures

 protected:
  // Launches the smallest amount of work.
  virtual void launch(cuda::Stream stream) = 0;
  // Makes a launch longer. Returns false if it is as long as it can be.
  virtual bool enlarge() { return false; }

 private:
  bool submit(cuda::Event end) override;
  bool time_launches(double& seconds);  // gives the time of one launch

  ProbedGpu& gpu_;
  cuda::Stream stream_;
  cuda::Event begin_, end_;
  std::int64_t launches_ = 1;
};

// Products of square matrices.
class ProductLoop : public TrainingLoop {
 public:
  explicit ProductLoop(ProbedGpu& gpu);
  std::string description() const override;  // "4096 x 4096 matrices, cuBLAS 13.0.2"

 private:
  void launch(cuda::Stream stream) override;
  bool enlarge() override;

  cuda::Gemm gemm_;
  std::string library_;
};

// Copies of blocks that are larger than the caches.
class DeviceCopyLoop : public TrainingLoop {
 public:
  explicit DeviceCopyLoop(ProbedGpu& gpu);
  std::string description() const override;  // "copies of 256 MiB"
  // Bytes that a piece reads and writes.
  double moved_bytes() const;

 private:
  void launch(cuda::Stream stream) override;

  void *from_, *to_;
};

}  // namespace loaderscope::probe
