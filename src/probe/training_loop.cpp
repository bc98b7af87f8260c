#include "probe/training_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace loaderscope::probe {
namespace {

constexpr std::size_t kPiecesInFlight = 16;
constexpr double kPieceSeconds = 1e-3, kMinLaunchSeconds = 0.3e-3;
constexpr std::int64_t kMaxLaunches = 64, kTimedLaunches = 4;
constexpr std::int32_t kFirstSize = 1024, kMaxSize = 8192;  // rows of a matrix
constexpr int kHalfOfOne = 0x3c;                            // twice: a 2-byte value of about 1
constexpr std::size_t kCopiedBlock = std::size_t{256} << 20;

}  // namespace

TrainingLoop::TrainingLoop(ProbedGpu& gpu)
    : GpuLoop(gpu.runtime(), gpu.objects(), kPiecesInFlight),
      gpu_(gpu),
      stream_(gpu.stream()),
      begin_(gpu.objects().event()),
      end_(gpu.objects().event()) {}

// The first launch of a size loads its kernel.
bool TrainingLoop::time_launches(double& seconds) {
  launch(stream_);
  check(runtime().record(begin_, stream_));
  for (std::int64_t i = 0; i < kTimedLaunches; ++i) launch(stream_);
  check(runtime().record(end_, stream_));
  if (!gpu_.wait(stream_)) return false;
  double ms = 0;
  check(runtime().elapsed(begin_, end_, ms));
  seconds = ms / 1e3 / static_cast<double>(kTimedLaunches);
  return true;
}

bool TrainingLoop::calibrate() {
  double seconds = 0;
  if (!time_launches(seconds)) return false;
  while (seconds < kMinLaunchSeconds && enlarge()) {
    if (!time_launches(seconds)) return false;
  }
  const double wanted = std::ceil(kPieceSeconds / std::max(seconds, 1e-9));
  launches_ = static_cast<std::int64_t>(std::clamp(wanted, 1.0, double{kMaxLaunches}));
  return true;
}

bool TrainingLoop::submit(cuda::Event end) {
  for (std::int64_t i = 0; i < launches_; ++i) launch(stream_);
  check(runtime().record(end, stream_));
  return true;
}

// The library takes a second to load. A quick measurement uses the kernel that is built in.
ProductLoop::ProductLoop(ProbedGpu& gpu) : TrainingLoop(gpu) {
  if (!gpu.probing().options.quick) gpu.objects().products();
  library_ = gpu.runtime().gemm_library();
  constexpr std::size_t kValues = std::size_t{kMaxSize} * kMaxSize;
  for (const void** half : {&gemm_.a, &gemm_.b}) {
    void* const place = gpu.memory(2 * kValues);
    check(runtime().fill(place, kHalfOfOne, 2 * kValues));
    *half = place;
  }
  gemm_.c = gpu.memory(4 * kValues);
  gemm_.size = kFirstSize;
}

void ProductLoop::launch(cuda::Stream stream) { check(runtime().gemm(gemm_, stream)); }

bool ProductLoop::enlarge() {
  if (gemm_.size >= kMaxSize) return false;
  gemm_.size *= 2;
  return true;
}

std::string ProductLoop::description() const {
  return fmt::format("{0} x {0} matrices, {1}", gemm_.size, library_);
}

DeviceCopyLoop::DeviceCopyLoop(ProbedGpu& gpu)
    : TrainingLoop(gpu), from_(gpu.memory(kCopiedBlock)), to_(gpu.memory(kCopiedBlock)) {
  check(runtime().fill(from_, kHalfOfOne, kCopiedBlock));
}

void DeviceCopyLoop::launch(cuda::Stream stream) {
  check(runtime().copy_on_device(to_, from_, kCopiedBlock, stream));
}

std::string DeviceCopyLoop::description() const { return "copies of 256 MiB"; }

double DeviceCopyLoop::moved_bytes() const {
  return 2 * static_cast<double>(kCopiedBlock) * static_cast<double>(launches());
}

}  // namespace loaderscope::probe
