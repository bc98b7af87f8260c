#include "device/cuda/step_compute.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace loaderscope::cuda {
namespace {

constexpr std::int32_t kMaxSize = 8192, kSmallest = 256;  // rows of a matrix
constexpr std::int64_t kProducts = 16;                    // least number in a step
constexpr std::size_t kTimings = 5;
constexpr std::int64_t kPerTiming = 8;
constexpr std::int32_t kWarming = 2048;       // rows
constexpr Nanos kWarmingTakes = kSecond / 2;  // an idle GPU has a fraction of its clock rate
constexpr double kAgree = 0.02;               // relative difference of two timings
constexpr int kMaxTries = 10;
constexpr std::int64_t kCorrected = 5;      // steps
constexpr int kByteOfOnes = 0x3c;           // twice: a 2-byte value of about 1
constexpr std::int64_t kSeries = 100;       // kernels
constexpr Nanos kSpun = 20 * kMicrosecond;  // each: longer than a launch takes
constexpr Nanos kHeadStart = kMillisecond;  // delay of kernels while the host launches them
constexpr Nanos kCostsAgree = 50;

// Returns the median of a few timings.
double median_of_timings(const std::function<double()>& time) {
  std::array<double, kTimings> times{};
  for (double& one : times) one = time();
  std::sort(times.begin(), times.end());
  return times[kTimings / 2];
}

// Once two in a row agree, as long as it is tried.
Nanos settled(Nanos before, const std::function<Nanos()>& measure,
              const std::function<bool(Nanos, Nanos)>& agree) {
  for (int tries = 0; tries < kMaxTries; ++tries) {
    const Nanos now = measure();
    if (agree(before, now)) return now;
    before = now;
  }
  return before;
}

}  // namespace

StepCompute::StepCompute(DeviceGroup& gang, DeviceObjects& objects, const RunConfig& config,
                         std::int32_t rank, Stream stream)
    : gang_(gang),
      runtime_(gang.runtime()),
      objects_(objects),
      stream_(stream),
      kernels_(config.trainer.launches),
      timing_begin_(objects.event()),
      timing_end_(objects.event()) {
  warm_up();
  if (config.trainer.compute.value.gemm) {
    calibrate(config.mean_compute_time());
    return;
  }
  if (config.trainer.graph) record_graphs(rank, config.trainer.in_flight);
  if (kernels_ > 1) measure_cost(config.mean_compute_time());
}

Spin StepCompute::make_spin(Nanos duration) const {
  Spin spin;
  spin.duration = duration;
  spin.abort = gang_.abort();
  return spin;
}

// A kernel is loaded when it first runs.
void StepCompute::warm_up() {
  objects_.check("compute", runtime_.spin(make_spin(0), stream_));
  objects_.check("compute", runtime_.synchronise_device());
}

void StepCompute::record_graphs(std::int32_t rank, std::int64_t buffers) {
  for (std::int64_t buffer = 0; buffer < buffers; ++buffer) {
    Spin spin = make_spin(0);
    durations_.push_back(gang_.duration_word(rank, buffer));
    spin.variable = durations_.back();
    objects_.check("--graph", runtime_.begin_capture(stream_));
    for (std::int64_t i = 0; i < kernels_; ++i)
      objects_.check("--graph", runtime_.spin(spin, stream_));
    Graph graph;
    objects_.check("--graph", runtime_.end_capture(stream_, graph));
    objects_.keep(graph);
    graphs_.push_back(graph);
    objects_.check("--graph", runtime_.launch_graph(graph, stream_));
  }
  objects_.check("--graph", runtime_.synchronise_device());
}

// A GPU takes some time to begin and to end a kernel, which is part of the time that is asked for.
void StepCompute::measure_cost(Nanos step) {
  const auto agree = [](Nanos before, Nanos now) { return std::abs(now - before) <= kCostsAgree; };
  const Nanos first = cost_in_series();
  cost_ = std::max<Nanos>(settled(
                              first, [this] { return cost_in_series(); }, agree),
                          0);
  if (takes(step) > step) {
    description_ = fmt::format("compute: the GPU needs {} for {} kernels, {} each, however short",
                               format_duration(takes(step)), kernels_, format_duration(cost_));
  }
}

// Returns the cost of one kernel besides its spin, as the median of a few series. Each series is
// queued after a long kernel.
Nanos StepCompute::cost_in_series() {
  const std::int64_t kernels = graphs_.empty() ? std::min(kernels_, kSeries) : kernels_;
  const double ms = median_of_timings([&] {
    objects_.check("compute", runtime_.spin(make_spin(kHeadStart), stream_));
    return measure_milliseconds("compute", [&] { launch_kernels(0, kernels, kernels * kSpun); });
  });
  return std::llround(ms * 1e6 / static_cast<double>(kernels)) - kSpun;
}

double StepCompute::measure_milliseconds(const char* setting, const std::function<void()>& launch) {
  objects_.check(setting, runtime_.record(timing_begin_, stream_));
  launch();
  objects_.check(setting, runtime_.record(timing_end_, stream_));
  objects_.check(setting, runtime_.synchronise(timing_end_));
  double ms = 0;
  objects_.check(setting, runtime_.elapsed(timing_begin_, timing_end_, ms));
  return ms;
}

// The largest matrices of which kProducts still fit into a step.
void StepCompute::calibrate(Nanos step) {
  std::int32_t size = kMaxSize;
  allocate_matrices(size);
  objects_.products();
  warm_clock();
  // Tries sizes from small to large, so that no caller waits for products that are far too long.
  Nanos best = 0;
  for (std::int32_t next = kSmallest; next <= kMaxSize; next *= 2) {
    const Nanos time = measure_product(next);
    if (best > 0 && time * kProducts > step) break;
    best = std::max<Nanos>(time, 1);
    size = next;
  }
  gemm_.size = size;
  product_ = settled_product(size, best);
  // Ranks that share a GPU slow each other down: that is theirs to see.
  int devices = 1;
  objects_.check("--compute gemm", runtime_.device_count(devices));
  to_correct_ = gang_.ranks() <= devices ? kCorrected : 0;
  description_ = fmt::format("compute: {0} x {0} matrices, {1}, {2} each", size,
                             runtime_.gemm_library(), format_duration(product_));
}

void StepCompute::allocate_matrices(std::int32_t size) {
  const auto values = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  for (const void** half : {&gemm_.a, &gemm_.b}) {
    void* place = objects_.memory(2 * values, "matrices of --compute gemm");
    objects_.check("--compute gemm", runtime_.fill(place, kByteOfOnes, 2 * values));
    *half = place;
  }
  gemm_.c = objects_.memory(4 * values, "matrices of --compute gemm");
}

double StepCompute::milliseconds_of_products(std::int32_t size) {
  Gemm gemm = gemm_;
  gemm.size = size;
  return measure_milliseconds("--compute gemm", [&] {
    for (std::int64_t product = 0; product < kPerTiming; ++product)
      objects_.check("--compute gemm", runtime_.gemm(gemm, stream_));
  });
}

void StepCompute::warm_clock() {
  const Nanos until = runtime_.now() + kWarmingTakes;
  while (runtime_.now() < until) milliseconds_of_products(kWarming);
}

// The median of a few series. The first series of a size is not counted: it loads kernels.
Nanos StepCompute::measure_product(std::int32_t size) {
  milliseconds_of_products(size);
  const double ms = median_of_timings([&] { return milliseconds_of_products(size); });
  return std::llround(ms * 1e6 / static_cast<double>(kPerTiming));
}

Nanos StepCompute::settled_product(std::int32_t size, Nanos first) {
  const auto agree = [](Nanos before, Nanos now) {
    return std::abs(static_cast<double>(now - before)) <= kAgree * static_cast<double>(now);
  };
  return settled(
      first, [&] { return std::max<Nanos>(measure_product(size), 1); }, agree);
}

LaunchedWork StepCompute::launch(std::int64_t buffer, Nanos duration) {
  if (product_ > 0) return launch_products(duration);
  launch_kernels(buffer, kernels_, std::max<Nanos>(duration - kernels_ * cost_, 0));
  return {0, duration};
}

void StepCompute::launch_kernels(std::int64_t buffer, std::int64_t kernels, Nanos spun) {
  const Nanos each = spun / kernels;
  if (!graphs_.empty()) {
    const auto index = static_cast<std::size_t>(buffer);
    *durations_[index] = each;
    objects_.check("compute", runtime_.launch_graph(graphs_[index], stream_));
    return;
  }
  for (std::int64_t i = 1; i < kernels; ++i)
    objects_.check("compute", runtime_.spin(make_spin(each), stream_));
  objects_.check("compute", runtime_.spin(make_spin(spun - (kernels - 1) * each), stream_));
}

Nanos StepCompute::takes(Nanos duration) const { return std::max(duration, kernels_ * cost_); }

// Each moves it half of the way, and no step by more than twice.
void StepCompute::correct(const LaunchedWork& launched, Nanos took) {
  if (to_correct_ == 0 || launched.products == 0) return;
  --to_correct_;
  const Nanos seen = (took - launched.spun) / launched.products;
  product_ = (product_ + std::clamp(seen, product_ / 2, 2 * product_) + 1) / 2;
}

// Spins for the time that whole products do not fill.
LaunchedWork StepCompute::launch_products(Nanos duration) {
  const std::int64_t products = duration / product_;
  const Nanos spun = duration - products * product_;
  for (std::int64_t i = 0; i < products; ++i)
    objects_.check("compute", runtime_.gemm(gemm_, stream_));
  objects_.check("compute", runtime_.spin(make_spin(spun), stream_));
  return {products, spun};
}

}  // namespace loaderscope::cuda
