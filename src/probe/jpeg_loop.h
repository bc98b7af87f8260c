// Decoding of batches of JPEG images by the GPU, as production of batches does it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/jpeg_batch_decoder.h"
#include "probe/gpu_loop.h"
#include "probe/made_images.h"
#include "probe/probed_gpu.h"

namespace loaderscope::probe {

struct ImageSize {
  int width = 0, height = 0;

  double pixels() const { return static_cast<double>(width) * height; }
  std::string text() const;  // "500x375"
  bool operator==(const ImageSize&) const = default;
};

// Made images of one size in page-locked memory.
struct LockedImages {
  ImageSize size;
  std::vector<std::span<const std::byte>> stored;
  double mean_bytes = 0;
};
LockedImages make_locked_images(ProbedGpu& gpu, const ImageSize& size);

// Memory of the GPU for the pixels of images up to a size. Images far from each other in a batch
// share a place: the GPU decodes them one after another.
class PixelPlaces {
 public:
  PixelPlaces(ProbedGpu& gpu, const ImageSize& largest);

  const ImageSize& largest() const { return largest_; }
  std::byte* at(std::size_t image) const;
  // Bytes of the GPU that decoding of images up to this size takes.
  static std::size_t needed_memory(const ImageSize& largest);

 private:
  ImageSize largest_;
  std::byte* block_;
};

inline constexpr int kMaxProbedBatch = 256;

// One back end of nvJPEG.
class ProbedDecoder {
 public:
  // Throws RunError, also for `hardware` on a GPU without JPEG engines.
  ProbedDecoder(ProbedGpu& gpu, std::shared_ptr<cuda::Nvjpeg> nvjpeg, cuda::nvjpeg::Backend backend,
                const PixelPlaces& places);

  ProbedGpu& gpu() { return gpu_; }
  cuda::JpegBatchDecoder& decoder() { return decoder_; }
  const PixelPlaces& places() const { return places_; }
  unsigned engines() const { return decoder_.facts().engines; }
  unsigned cores() const { return decoder_.facts().cores; }

 private:
  ProbedGpu& gpu_;
  const PixelPlaces& places_;
  cuda::JpegBatchDecoder decoder_;
};

// A piece is a batch. Throws RunError for an image that the GPU refuses.
class JpegLoop : public GpuLoop {
 public:
  // All arguments outlive the loop.
  JpegLoop(ProbedDecoder& with, const LockedImages& images, int batch);

  std::int64_t submitted() const { return submitted_; }  // images

 private:
  bool submit(cuda::Event end) override;

  ProbedDecoder& with_;
  std::vector<cuda::JpegTask> tasks_;
  std::vector<cuda::JpegOutcome> outcomes_;
  cuda::Event begin_;
  std::int64_t submitted_ = 0;
};

}  // namespace loaderscope::probe
