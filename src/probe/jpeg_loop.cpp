#include "probe/jpeg_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope::probe {
namespace {

constexpr int kDifferentImages = 4;
// More than the images of a call, whose places must differ.
constexpr std::size_t kPlaces = 128;
constexpr std::size_t kMinPinnedArena = std::size_t{64} << 20;
constexpr std::size_t kBatchesInFlight = 2;

std::size_t rgb_bytes(const ImageSize& size) {
  return ProbedGpu::aligned(std::size_t{3} * static_cast<std::size_t>(size.width) *
                            static_cast<std::size_t>(size.height));
}

cuda::JpegDecoderOptions decoder_options(cuda::nvjpeg::Backend backend, const ImageSize& largest) {
  cuda::JpegDecoderOptions options;
  options.place = "GPU 0";
  options.backend = backend;
  options.batch = kMaxProbedBatch;
  options.width = largest.width;
  options.height = largest.height;
  options.region_bytes = rgb_bytes(largest);
  options.arena_bytes = cuda::suggested_arena_bytes(kMaxProbedBatch, largest.width, largest.height);
  // Stored images of two calls, at one byte for each pixel.
  options.pinned_arena_bytes = kMinPinnedArena + 2 * kPlaces * rgb_bytes(largest) / 3;
  return options;
}

}  // namespace

std::string ImageSize::text() const { return fmt::format("{}x{}", width, height); }

LockedImages make_locked_images(ProbedGpu& gpu, const ImageSize& size) {
  const std::vector<StoredImage> made = make_images(kDifferentImages, size.width, size.height);
  LockedImages images{size, {}, mean_bytes(made)};
  for (const StoredImage& image : made) {
    auto* const place = static_cast<std::byte*>(gpu.host_memory(image.size()));
    std::copy(image.begin(), image.end(), place);
    images.stored.emplace_back(place, image.size());
  }
  return images;
}

PixelPlaces::PixelPlaces(ProbedGpu& gpu, const ImageSize& largest)
    : largest_(largest),
      block_(static_cast<std::byte*>(gpu.memory(kPlaces * rgb_bytes(largest)))) {}

std::byte* PixelPlaces::at(std::size_t image) const {
  return block_ + image % kPlaces * rgb_bytes(largest_);
}

std::size_t PixelPlaces::needed_memory(const ImageSize& largest) {
  return kPlaces * rgb_bytes(largest) +
         cuda::suggested_arena_bytes(kMaxProbedBatch, largest.width, largest.height);
}

ProbedDecoder::ProbedDecoder(ProbedGpu& gpu, std::shared_ptr<cuda::Nvjpeg> nvjpeg,
                             cuda::nvjpeg::Backend backend, const PixelPlaces& places)
    : gpu_(gpu),
      places_(places),
      decoder_(gpu.runtime(), std::move(nvjpeg), make_any_decoder({}),
               decoder_options(backend, places.largest()), gpu.stream(), gpu.stop()) {}

JpegLoop::JpegLoop(ProbedDecoder& with, const LockedImages& images, int batch)
    : GpuLoop(with.gpu().runtime(), with.gpu().objects(), kBatchesInFlight),
      with_(with),
      outcomes_(static_cast<std::size_t>(batch)),
      begin_(with.gpu().objects().event()) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i)
    tasks_.push_back({images.stored[i % images.stored.size()],
                      {0, 0, images.size.width, images.size.height},
                      with.places().at(i),
                      std::size_t{3} * static_cast<std::size_t>(images.size.width)});
}

bool JpegLoop::submit(cuda::Event end) {
  if (!with_.decoder().decode(tasks_, begin_, end, outcomes_)) return false;
  const auto refused = std::find_if(
      outcomes_.begin(), outcomes_.end(),
      [](const cuda::JpegOutcome& outcome) { return outcome.way == cuda::JpegOutcome::Way::cpu; });
  if (refused != outcomes_.end())
    throw RunError(fmt::format("nvJPEG refuses an image of {}x{}: {}", tasks_.front().region.width,
                               tasks_.front().region.height, refused->reason));
  submitted_ += std::ssize(tasks_);
  return true;
}

}  // namespace loaderscope::probe
