#include <fmt/format.h>

#include "device/cuda/cuda_device.h"
#include "device/cuda/runtime.h"
#include "device/devices.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace cuda {
namespace {

// CUDA_DEVICE_MAX_CONNECTIONS. With fewer queues than streams, a kernel at a gate could block the
// kernel that it waits for.
constexpr std::int64_t kHardwareQueues = 32;
// Streams of a rank: for copies, computes and the clock. A rank that makes batches on the device
// has others for the copies, the decoder and the kernel of its loader.
constexpr std::int64_t kStreams = 3, kStreamsToMake = 6;
// A stream takes about a thousand calls that have not run; one more blocks, and keeps the driver
// from the rank that a gate waits for.
constexpr std::int64_t kCallsAtAGate = 1000;
constexpr std::int64_t kOtherCalls = 10;  // calls of a step: events, its copy, its gate

void check_gates(const RunConfig& config, std::int64_t sharing) {
  const TrainerConfig& trainer = config.trainer;
  const std::int64_t most =
      kHardwareQueues / (config.makes_on_device() ? kStreamsToMake : kStreams);
  if (sharing > most) {
    throw RunError(
        fmt::format("sync-ranks: {} ranks would wait for each other on one GPU, and at most {} can",
                    sharing, most),
        "use fewer --ranks, or --device sim");
  }
  const std::int64_t launches = trainer.graph ? 1 : trainer.launches.value;
  if ((launches + kOtherCalls) * trainer.in_flight.value > kCallsAtAGate) {
    throw RunError(
        fmt::format("sync-ranks: {} launches in each of {} steps in flight are more than a GPU "
                    "queues while ranks wait for each other",
                    launches, trainer.in_flight.value),
        "use fewer --launches or --in-flight, or --graph");
  }
}

}  // namespace

std::vector<std::unique_ptr<Device>> make_devices(std::shared_ptr<Runtime> runtime,
                                                  const RunConfig& config,
                                                  const std::atomic<int>& stop,
                                                  const FindNvjpeg& find) {
  if (const auto reason = why_no_gpu(runtime.get()))
    throw RunError("device = cuda: " + reason->substr(0, reason->size() - 1));
  int count = 0;
  check("GPUs", runtime->device_count(count));
  const std::int64_t sharing = (config.trainer.ranks + count - 1) / count;
  const bool barrier = config.trainer.sync_ranks && config.trainer.ranks > 1;
  if (barrier) check_gates(config, sharing);
  check("GPU 0", runtime->set_device(0));
  const auto gang = std::make_shared<DeviceGroup>(
      runtime, static_cast<std::int32_t>(config.trainer.ranks.value),
      static_cast<std::int32_t>(config.trainer.in_flight.value), barrier);
  std::vector<std::unique_ptr<Device>> devices;
  for (std::int32_t rank = 0; rank < config.trainer.ranks; ++rank) {
    const int device = static_cast<int>(rank % count);
    check(fmt::format("GPU {}", device), runtime->set_device(device));
    devices.push_back(std::make_unique<CudaDevice>(gang, config, rank, device, stop, find));
  }
  return devices;
}

}  // namespace cuda

std::vector<std::unique_ptr<Device>> make_cuda_devices(const RunConfig& config,
                                                       const std::atomic<int>& stop) {
  return cuda::make_devices(cuda::real_runtime(), config, stop);
}

std::optional<std::string> why_gpu_unusable() {
  return cuda::why_gpu_unusable(cuda::real_runtime().get());
}

std::optional<std::string> why_no_cuda() { return cuda::why_no_gpu(cuda::real_runtime().get()); }

}  // namespace loaderscope
