#include "probe/augment_loop.h"

#include <vector>

#include "device/cuda/make_augment_job.h"
#include "engine/native/slot_size.h"
#include "loaderscope/augment.h"

namespace loaderscope::probe {
namespace {

constexpr std::size_t kKernelsInFlight = 16;
constexpr int kGrey = 0x80;

AugmentOptions kernel_options(Transfer transfer) {
  AugmentOptions options;
  options.size = kAugmentSide;
  options.transfer = transfer;
  return options;
}

std::size_t region_bytes(const Region& region) {
  return static_cast<std::size_t>(native::pixel_bytes(region));
}

std::size_t tensor_bytes(Transfer transfer) {
  return static_cast<std::size_t>(sample_bytes(kernel_options(transfer)));
}

}  // namespace

AugmentBatch::AugmentBatch(ProbedGpu& gpu)
    : job_(cuda::make_augment_job(kernel_options(Transfer::f32))) {
  const AugmentOptions options = kernel_options(Transfer::f32);
  const auto augmenter = make_augmenter(options);
  std::vector<AugmentRecipe> recipes;
  std::size_t pixels = 0;
  for (std::int64_t i = 0; i < kAugmentBatch; ++i) {
    recipes.push_back(augmenter->choose(0, i, {kAugmentedImage.width, kAugmentedImage.height}));
    pixels += ProbedGpu::aligned(region_bytes(recipes.back().region));
    read_bytes_ += static_cast<double>(region_bytes(recipes.back().region));
  }
  auto* place = static_cast<std::uint8_t*>(gpu.memory(pixels));
  gpu.check(gpu.runtime().fill(place, kGrey, pixels));
  constexpr std::size_t kTable = kAugmentBatch * sizeof(cuda::SampleJob);
  auto* const host = static_cast<cuda::SampleJob*>(gpu.host_memory(kTable));
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    const Region& region = recipes[i].region;
    host[i] = cuda::make_sample_job(
        options, recipes[i],
        {place, std::size_t{3} * static_cast<std::size_t>(region.width), region});
    place += ProbedGpu::aligned(region_bytes(region));
  }
  auto* const table = static_cast<cuda::SampleJob*>(gpu.memory(kTable));
  const cuda::Stream stream = gpu.stream();
  gpu.check(gpu.runtime().copy_to_device(table, host, kTable, stream));
  gpu.wait(stream);
  job_.samples = table;
  job_.count = kAugmentBatch;
  job_.out = gpu.memory(kAugmentBatch * tensor_bytes(Transfer::f32));
}

AugmentLoop::AugmentLoop(ProbedGpu& gpu, const AugmentBatch& batch, Transfer transfer)
    : GpuLoop(gpu.runtime(), gpu.objects(), kKernelsInFlight),
      job_(batch.job()),
      moved_bytes_(batch.read_bytes() +
                   static_cast<double>(kAugmentBatch * tensor_bytes(transfer))),
      stream_(gpu.stream()) {
  job_.type = cuda::make_augment_job(kernel_options(transfer)).type;
}

bool AugmentLoop::submit(cuda::Event end) {
  check(runtime().augment(job_, stream_));
  check(runtime().record(end, stream_));
  return true;
}

}  // namespace loaderscope::probe
