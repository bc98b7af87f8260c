// The kernel that crops, resizes, flips and normalises batches on the GPU.
#pragma once

#include "device/cuda/augment_job.h"
#include "loaderscope/vocabulary.h"
#include "probe/gpu_loop.h"
#include "probe/jpeg_loop.h"
#include "probe/probed_gpu.h"

namespace loaderscope::probe {

inline constexpr int kAugmentBatch = 256, kAugmentSide = 224;
inline constexpr ImageSize kAugmentedImage{500, 375};

// A batch of decoded images in GPU memory, with the random crops of a first epoch.
class AugmentBatch {
 public:
  explicit AugmentBatch(ProbedGpu& gpu);

  const cuda::AugmentJob& job() const { return job_; }
  double read_bytes() const { return read_bytes_; }  // pixels of all crops

 private:
  cuda::AugmentJob job_;
  double read_bytes_ = 0;
};

// A piece is a batch.
class AugmentLoop : public GpuLoop {
 public:
  // The batch outlives the loop. `transfer` is f16 or f32.
  AugmentLoop(ProbedGpu& gpu, const AugmentBatch& batch, Transfer transfer);

  double moved_bytes() const { return moved_bytes_; }  // read and written by a piece

 private:
  bool submit(cuda::Event end) override;

  cuda::AugmentJob job_;
  double moved_bytes_;
  cuda::Stream stream_;
};

}  // namespace loaderscope::probe
