#include "machine/gpu_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "base/symbol.h"

namespace loaderscope {

// Copied from nvml.h.
namespace nvml {

constexpr int kNotSupported = 3, kNoPermission = 4;
constexpr unsigned kVersion = 1;      // version of both structs
constexpr std::size_t kPlaces = 512;  // more than any driver has metrics: it may clear them all

struct Support {
  unsigned version, is_supported;
};
struct Counter {
  unsigned id;
  int result;
  double value;
  char *short_name, *long_name, *unit;
};
struct Counters {
  unsigned version, count;
  void *before, *now;
  std::array<Counter, kPlaces> counters;
};

}  // namespace nvml

struct GpuCounterReader::Sample {};

struct GpuCounterReader::Functions {
  int (*support)(NvmlDevice*, nvml::Support*) = nullptr;
  int (*allocate)(Sample**) = nullptr;
  int (*release)(Sample*) = nullptr;
  int (*take)(NvmlDevice*, Sample*) = nullptr;
  int (*compare)(nvml::Counters*) = nullptr;

  explicit Functions(void* library) {
    const auto find = [&](auto& function, const char* symbol) {
      find_symbol(function, library, symbol);
    };
    find(support, "nvmlGpmQueryDeviceSupport");
    find(allocate, "nvmlGpmSampleAlloc");
    find(release, "nvmlGpmSampleFree");
    find(take, "nvmlGpmSampleGet");
    find(compare, "nvmlGpmMetricsGet");
  }
  bool are_there() const {
    return support != nullptr && allocate != nullptr && release != nullptr && take != nullptr &&
           compare != nullptr;
  }
};

namespace {

struct CounterRow {
  unsigned id;  // metric of nvmlGpmMetricId_t, in percent
  double GpuCounters::*share;
};
constexpr CounterRow kCounters[] = {{2, &GpuCounters::multiprocessors},
                                    {3, &GpuCounters::occupancy},
                                    {5, &GpuCounters::tensor_cores},
                                    {10, &GpuCounters::memory}};

std::optional<GpuCounters> make_counters(const nvml::Counters& reported) {
  GpuCounters shares;
  for (std::size_t i = 0; i < std::size(kCounters); ++i) {
    const nvml::Counter& counter = reported.counters[i];
    if (counter.result != 0 || !(counter.value >= 0)) return std::nullopt;
    shares.*kCounters[i].share = std::min(counter.value / 100, 1.0);
  }
  return shares;
}

}  // namespace

GpuCounterReader::GpuCounterReader(void* library)
    : functions_(std::make_unique<Functions>(library)) {}

GpuCounterReader::~GpuCounterReader() {
  for (const auto& [gpu, samples] : samples_) {
    for (Sample* sample : {samples.before, samples.now}) {
      if (sample != nullptr) functions_->release(sample);
    }
  }
}

// Returns why no counters are available; "" if they are.
std::string GpuCounterReader::begin(NvmlDevice* gpu, Samples& samples) const {
  if (!functions_->are_there()) return "not known to this driver";
  nvml::Support support{nvml::kVersion, 0};
  const int error = functions_->support(gpu, &support);
  if (error == nvml::kNotSupported || (error == 0 && support.is_supported == 0))
    return "not supported by this GPU";
  if (error == nvml::kNoPermission) return "not allowed to this user";
  if (error != 0 || functions_->allocate(&samples.before) != 0 ||
      functions_->allocate(&samples.now) != 0)
    return "NVML fails";
  return "";
}

std::optional<GpuCounters> GpuCounterReader::look(NvmlDevice* gpu) {
  const auto [place, is_new] = samples_.try_emplace(gpu);
  Samples& samples = place->second;
  if (is_new) samples.why_none = begin(gpu, samples);
  if (!samples.why_none.empty()) return std::nullopt;
  samples.error = functions_->take(gpu, samples.now);
  if (samples.error != 0) {
    samples.has_before = false;
    return std::nullopt;
  }
  nvml::Counters reported{};
  reported.version = nvml::kVersion;
  reported.count = static_cast<unsigned>(std::size(kCounters));
  reported.before = samples.before;
  reported.now = samples.now;
  for (std::size_t i = 0; i < std::size(kCounters); ++i) reported.counters[i].id = kCounters[i].id;
  const bool has_before = samples.has_before;
  if (has_before) samples.error = functions_->compare(&reported);
  std::swap(samples.before, samples.now);
  samples.has_before = true;
  if (!has_before || samples.error != 0) return std::nullopt;
  const std::optional<GpuCounters> counters = make_counters(reported);
  if (!counters) samples.error = nvml::kNotSupported;
  return counters;
}

std::string GpuCounterReader::why_not(NvmlDevice* gpu) const {
  const auto samples = samples_.find(gpu);
  if (samples == samples_.end()) return "";
  const int error = samples->second.error;
  if (!samples->second.why_none.empty() || error == 0) return samples->second.why_none;
  // A GPU that is cut into parts (MIG) says that it can, and then does not.
  if (error == nvml::kNotSupported) return "not supported by this GPU as it is set up";
  return fmt::format("NVML fails (error {})", error);
}

}  // namespace loaderscope
