#include "machine/gpu_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "machine/proc_file.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxSamples = 1 << 14;

// The path to the ancestors is short for most processes on a GPU.
bool is_of_family(pid_t process, pid_t own) {
  constexpr int kMaxDepth = 64;
  for (int depth = 0; process > 1 && depth < kMaxDepth; ++depth) {
    if (process == own) return true;
    const auto stat = read_process_stat("/proc/" + std::to_string(process));
    if (!stat) return false;
    process = stat->parent;
  }
  return false;
}

// Averages only samples that have the value.
double sample_mean(const std::vector<GpuSample>& samples,
                   std::optional<double> (*value)(const GpuSample&)) {
  double sum = 0, count = 0;
  for (const GpuSample& sample : samples) {
    const std::optional<double> has = value(sample);
    sum += has.value_or(0);
    count += has ? 1 : 0;
  }
  return count > 0 ? sum / count : 0;
}

std::optional<double> counted(const GpuSample& sample, double GpuCounters::*share) {
  if (!sample.details.counters) return std::nullopt;
  return (*sample.details.counters).*share;
}

struct ShareRow {
  const char *name, *help;
  std::optional<double> (*value)(const GpuSample&);
};
// Means over the samples. A value that is 0 in all of them is left out, if the driver may not know
// it.
constexpr ShareRow kMeans[] = {
    {metric::gpu_memory_busy_share, "of the time, the GPU's memory was read or written",
     [](const GpuSample& s) -> std::optional<double> { return s.details.memory_busy; }},
    {metric::gpu_multiprocessors_share, "of its multiprocessors that were busy, mean over time",
     [](const GpuSample& s) { return counted(s, &GpuCounters::multiprocessors); }},
    {metric::gpu_occupancy_share, "of the warps that it can run at once, that were active",
     [](const GpuSample& s) { return counted(s, &GpuCounters::occupancy); }},
    {metric::gpu_tensor_share, "of the time, its tensor cores worked",
     [](const GpuSample& s) { return counted(s, &GpuCounters::tensor_cores); }},
    {metric::gpu_memory_rate_share, "of its memory's highest rate, that was read and written",
     [](const GpuSample& s) { return counted(s, &GpuCounters::memory); }},
    {metric::gpu_decoder_share, "of the time, its decoder of videos worked",
     [](const GpuSample& s) -> std::optional<double> { return s.details.decoder; }},
    {metric::gpu_jpeg_share, "of the time, its decoder of images worked",
     [](const GpuSample& s) -> std::optional<double> { return s.details.jpeg; }},
    {metric::gpu_clock_mhz, "clock of its multiprocessors, in MHz",
     [](const GpuSample& s) -> std::optional<double> { return s.details.clock_mhz; }},
    {metric::gpu_most_clock_mhz, "that it can have",
     [](const GpuSample& s) -> std::optional<double> { return s.details.most_clock_mhz; }},
    {metric::gpu_received_bytes_per_s, "that came to it by PCIe",
     [](const GpuSample& s) -> std::optional<double> { return s.details.received; }},
    {metric::gpu_sent_bytes_per_s, "that it sent by PCIe",
     [](const GpuSample& s) -> std::optional<double> { return s.details.sent; }},
    {metric::gpu_throttled_share, "of the samples, its clocks were held down by power or heat",
     [](const GpuSample& s) -> std::optional<double> {
       return s.details.held.is_held() ? 1.0 : 0.0;
     }},
    {metric::gpu_throttled_by_power_share, "of the samples, they were by its limit of power",
     [](const GpuSample& s) -> std::optional<double> {
       return s.details.held.power_limited ? 1.0 : 0.0;
     }},
    {metric::gpu_throttled_by_heat_share, "of the samples, they were by heat",
     [](const GpuSample& s) -> std::optional<double> {
       return s.details.held.heat_limited ? 1.0 : 0.0;
     }},
    {metric::gpu_throttled_by_hardware_share,
     "of the samples, they were, and the hardware gives no reason",
     [](const GpuSample& s) -> std::optional<double> {
       return s.details.held.hardware_limited ? 1.0 : 0.0;
     }},
    {metric::gpu_throttled_by_setting_share, "of the samples, somebody had set them lower",
     [](const GpuSample& s) -> std::optional<double> {
       return s.details.held.setting_limited ? 1.0 : 0.0;
     }},
};

// Adds the reason for missing shares, for users who look for them.
void add_counting(const std::vector<GpuSample>& samples, std::vector<Metric>& metrics) {
  std::set<unsigned> counting;
  std::string why_not;
  for (const GpuSample& sample : samples) {
    if (sample.details.counters) counting.insert(sample.gpu);
    if (!sample.details.no_counters.empty()) why_not = sample.details.no_counters;
  }
  if (counting.empty() && why_not.empty()) return;
  metrics.push_back(make_metric(metric::gpu_counting,
                                "GPUs of them whose performance counters (GPM) are read" +
                                    (why_not.empty() ? "" : "; of others: " + why_not),
                                static_cast<double>(counting.size())));
}

// The most of its width and generation that a link had while its GPU worked.
struct LinkSeen {
  int width = 0, generation = 0, widest = 0, highest = 0;

  double part() const {
    return static_cast<double>(width) * transfers_per_s(generation) /
           std::max(1.0, widest * transfers_per_s(highest));
  }
  // Per lane, in 10^9.
  static double transfers_per_s(int generation) {
    constexpr std::array kRates = {0.0, 2.5, 5.0, 8.0, 16.0, 32.0, 64.0};
    return kRates.at(
        static_cast<std::size_t>(std::clamp(generation, 0, static_cast<int>(kRates.size()) - 1)));
  }
};

void add_link(const std::vector<GpuSample>& samples, std::vector<Metric>& metrics) {
  std::map<unsigned, LinkSeen> links;
  for (const GpuSample& sample : samples) {
    if (sample.busy <= 0 || sample.link.width <= 0 || sample.widest.width <= 0) continue;
    LinkSeen& seen = links[sample.gpu];
    seen.width = std::max(seen.width, sample.link.width);
    seen.generation = std::max(seen.generation, sample.link.generation);
    seen.widest = sample.widest.width;
    seen.highest = sample.widest.generation;
  }
  const auto weakest = std::min_element(
      links.begin(), links.end(),
      [](const auto& a, const auto& b) { return a.second.part() < b.second.part(); });
  if (weakest == links.end() || weakest->second.generation == 0) return;
  const LinkSeen& link = weakest->second;
  const auto add = [&](const char* name, const char* help, double value) {
    metrics.push_back(make_metric(name, help, value));
  };
  add(metric::link_width, "PCIe lanes of the GPU in use", link.width);
  add(metric::link_max_width, "lanes that it can use", link.widest);
  add(metric::link_gts, "transfers per second and lane while it worked, in 10^9",
      LinkSeen::transfers_per_s(link.generation));
  add(metric::link_max_gts, "that it can do", LinkSeen::transfers_per_s(link.highest));
}

}  // namespace

std::vector<GpuSample> samples_of_job(const std::vector<GpuSample>& all, Nanos begin, Nanos end) {
  std::vector<GpuSample> within;
  std::copy_if(all.begin(), all.end(), std::back_inserter(within),
               [&](const GpuSample& sample) { return sample.at >= begin && sample.at <= end; });
  std::set<unsigned> ours;
  for (const GpuSample& sample : within) {
    if (sample.is_ours) ours.insert(sample.gpu);
  }
  if (!ours.empty())
    std::erase_if(within, [&](const GpuSample& sample) { return !ours.contains(sample.gpu); });
  return within;
}

std::vector<Metric> gpu_load_metrics(const std::vector<GpuSample>& samples) {
  std::vector<Metric> metrics;
  if (samples.empty()) return metrics;
  std::set<unsigned> gpus;
  double most_memory = 0;
  std::optional<double> least_free;
  for (const GpuSample& sample : samples) {
    gpus.insert(sample.gpu);
    most_memory = std::max(most_memory, sample.memory_used);
    const double free = std::max(0.0, sample.memory - sample.memory_used);
    if (sample.memory > 0) least_free = std::min(least_free.value_or(free), free);
  }
  metrics.push_back(make_metric(metric::gpu_samples,
                                "of what follows, that NVML gave within the window",
                                static_cast<double>(samples.size())));
  metrics.push_back(
      make_metric(metric::gpu_sampled, "GPUs that they are of", static_cast<double>(gpus.size())));
  metrics.push_back(make_metric(
      metric::gpu_kernel_share, "of the time, a kernel of any program ran on the GPU",
      sample_mean(samples, [](const GpuSample& s) -> std::optional<double> { return s.busy; })));
  metrics.push_back(make_metric(metric::gpu_memory_bytes,
                                "of the fullest GPU's memory in use by all programs", most_memory));
  if (least_free)
    metrics.push_back(make_metric(metric::gpu_memory_free_bytes,
                                  "least memory that one of them had free", *least_free));
  for (const ShareRow& row : kMeans) {
    const double mean = sample_mean(samples, row.value);
    if (mean > 0) metrics.push_back(make_metric(row.name, row.help, mean));
  }
  add_counting(samples, metrics);
  add_link(samples, metrics);
  return metrics;
}

GpuSampler::GpuSampler(const std::string& library, Nanos period) : gpus_(library), period_(period) {
  if (gpus_.unavailable().empty() && !gpus_.read().empty())
    thread_ = std::thread([this] { watch(); });
}

GpuSampler::~GpuSampler() {
  stop_.store(1);
  if (thread_.joinable()) thread_.join();
}

void GpuSampler::watch() {
  for (Nanos at = monotonic_now(); sleep_until(at, &stop_); at += period_) take();
}

// Drops every second sample if there are too many, and doubles the period.
void GpuSampler::take() {
  std::vector<GpuSample> taken;
  for (const GpuLoad& load : gpus_.read()) {
    GpuSample sample;
    sample.at = monotonic_now();
    sample.gpu = load.number;
    sample.busy = load.busy;
    sample.memory_used = load.memory_used;
    sample.memory = load.memory;
    sample.details = gpus_.details(load.number);
    sample.link = load.link;
    sample.widest = load.widest;
    sample.address = load.address;
    sample.is_ours = std::any_of(load.processes.begin(), load.processes.end(),
                                 [](pid_t process) { return is_of_family(process, ::getpid()); });
    taken.push_back(std::move(sample));
  }
  const std::lock_guard lock(mutex_);
  samples_.insert(samples_.end(), taken.begin(), taken.end());
  if (samples_.size() < kMaxSamples) return;
  bool keep = false;
  unsigned last = 0;
  std::erase_if(samples_, [&](const GpuSample& sample) {
    if (sample.gpu <= last) keep = !keep;  // the next look
    last = sample.gpu;
    return !keep;
  });
  period_ *= 2;
}

std::vector<GpuSample> GpuSampler::samples() const {
  const std::lock_guard lock(mutex_);
  return samples_;
}

}  // namespace loaderscope
