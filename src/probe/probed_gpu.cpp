#include "probe/probed_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "device/cuda/nvjpeg_session.h"
#include "loaderscope/errors.h"

namespace loaderscope::probe {
namespace {

constexpr Nanos kPause = 50 * kMicrosecond;
constexpr std::size_t kAlignment = 256;  // same as for pixels in production

std::string without_full_stop(std::string sentence) {
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

}  // namespace

cuda::Runtime& usable_runtime(const ProbeContext& probing) {
  cuda::Runtime* const runtime = probing.options.runtime.get();
  if (runtime == nullptr) throw RunError("built without CUDA");
  if (const auto reason = cuda::why_no_gpu(runtime)) throw RunError(without_full_stop(*reason));
  cuda::check("GPU 0", runtime->set_device(0));
  return *runtime;
}

ProbedGpu::ProbedGpu(const ProbeContext& probing)
    : probing_(probing),
      runtime_(usable_runtime(probing)),
      stop_(probing.stop, std::max(probing.until, monotonic_now()) + probing.options.gpu_timeout),
      objects_(runtime_, "GPU 0"),
      idle_(objects_.event()) {
  cuda::Properties properties;
  check(runtime_.properties(0, properties));
  name_ = properties.name;
}

ProbedGpu::~ProbedGpu() {
  bool is_idle = true;
  try {
    const cuda::WaitLimit end{nullptr, runtime_.now() + cuda::kMaxEndWait};
    for (const cuda::Stream stream : streams_) {
      check(runtime_.record(idle_, stream));
      is_idle = is_idle && cuda::wait_within(runtime_, objects_, idle_, end);
    }
  } catch (const RunError&) {
    is_idle = false;  // the device is lost
  }
  if (!is_idle) objects_.abandon();
}

cuda::Stream ProbedGpu::stream() { return streams_.emplace_back(objects_.stream()); }

std::size_t ProbedGpu::usable_memory() {
  std::size_t free = 0, total = 0;
  check(runtime_.memory_info(free, total));
  return free / 2;
}

std::size_t ProbedGpu::aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

void* ProbedGpu::memory(std::size_t bytes) { return objects_.memory(bytes, "memory for probe"); }

void* ProbedGpu::host_memory(std::size_t bytes) {
  return objects_.host_memory(bytes, "page-locked memory for probe");
}

bool ProbedGpu::wait(cuda::Stream stream) {
  check(runtime_.record(idle_, stream));
  return cuda::wait_within(runtime_, objects_, idle_, {&stop()}) || stopped();
}

std::shared_ptr<cuda::Nvjpeg> ProbedGpu::find_nvjpeg() const {
  int driver = 0, built_with = 0;
  check(runtime_.versions(driver, built_with));
  cuda::NvjpegLibrary library = probing_.options.find_nvjpeg(driver);
  if (library.nvjpeg == nullptr) throw RunError(without_full_stop(library.reason));
  return std::move(library.nvjpeg);
}

bool ProbedGpu::run(GpuLoop& loop, Nanos time) {
  const std::array<GpuLoop*, 1> one = {&loop};
  return run(one, time);
}

bool ProbedGpu::run(std::span<GpuLoop* const> loops, Nanos time) {
  for (GpuLoop* loop : loops) loop->restart();
  Nanos end = 0;  // end of the counted time; 0: it has not begun
  for (;;) {
    bool has_moved = false;
    for (GpuLoop* loop : loops) {
      if (!loop->fill()) return stopped();
      has_moved = loop->take_finished() || has_moved;
    }
    if (stop().load(std::memory_order_relaxed) != 0) return stopped();
    const bool have_led =
        std::all_of(loops.begin(), loops.end(), [](GpuLoop* loop) { return loop->has_led(); });
    if (end == 0 && have_led) {
      for (GpuLoop* loop : loops) loop->count_from_now();
      end = runtime_.now() + time;
    }
    if (end != 0 && is_over(loops, end)) return drain(loops);
    if (!has_moved) runtime_.sleep_until(runtime_.now() + kPause, stop());
  }
}

// A row that has used up its time counts no more than one piece of each.
bool ProbedGpu::is_over(std::span<GpuLoop* const> loops, Nanos end) {
  const bool have_counted =
      std::all_of(loops.begin(), loops.end(), [](GpuLoop* loop) { return loop->counted() > 0; });
  return have_counted && (runtime_.now() >= end || probing_.left() == 0);
}

// Waits for the pieces in flight. They are not counted: other loops may have ended.
bool ProbedGpu::drain(std::span<GpuLoop* const> loops) {
  for (GpuLoop* loop : loops) {
    loop->stop_counting();
    while (!loop->is_idle()) {
      if (stop().load(std::memory_order_relaxed) != 0) return stopped();
      if (!loop->take_finished()) runtime_.sleep_until(runtime_.now() + kPause, stop());
    }
  }
  return true;
}

bool ProbedGpu::stopped() const {
  if (!stop_.is_late()) return false;
  throw RunError(fmt::format("{}: its work did not end within {}", objects_.place(),
                             format_duration(probing_.options.gpu_timeout)));
}

}  // namespace loaderscope::probe
