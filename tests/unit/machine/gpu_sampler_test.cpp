// GPU samples during a run, from a library that is made for this test.
#include "machine/gpu_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "environment.h"

namespace loaderscope {
namespace {

double value(const std::vector<Metric>& metrics, const char* name) {
  return value_of(metrics, name).value_or(-1);
}

GpuSample sample_at(Nanos at, unsigned gpu, double busy) {
  GpuSample sample;
  sample.at = at;
  sample.gpu = gpu;
  sample.busy = busy;
  sample.memory_used = 1e9 * (gpu + 1);
  sample.details.clock_mhz = 1000;
  sample.details.most_clock_mhz = 2000;
  sample.link = {4, 16};
  sample.widest = {5, 16};
  return sample;
}

TEST(GpuSampler, SamplesTheDriversLibraryInItsUnits) {
  const GpuSampler watch(LOADERSCOPE_PRETEND_NVML, 10 * kMillisecond);
  ASSERT_TRUE(watch.sees_gpus());
  const Nanos until = monotonic_now() + 20 * kSecond;
  while (watch.samples().size() < 6 && monotonic_now() < until)
    sleep_until(monotonic_now() + kMillisecond);
  const auto samples = samples_of_job(watch.samples(), 0, monotonic_now());
  ASSERT_GE(samples.size(), 3U);
  EXPECT_TRUE(samples.front().is_ours);
  EXPECT_EQ(samples.front().address, "0000:3b:00.0");
  const std::vector<Metric> metrics = gpu_load_metrics(samples);
  EXPECT_EQ(value(metrics, "gpu.sampled"), 1);  // the other one is not of this process
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.kernel_share"), 0.83);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.memory_busy_share"), 0.4);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.memory_bytes"), 60e9);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.memory_free_bytes"), 20e9);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.decoder_share"), 0.3);
  EXPECT_EQ(value(metrics, "gpu.jpeg_share"), -1);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.multiprocessors_share"), 0.02);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.occupancy_share"), 0.03);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.tensor_share"), 0.05);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.memory_rate_share"), 1);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.clock_mhz"), 1200);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.most_clock_mhz"), 1980);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.received_bytes_per_s"), 5e9);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.sent_bytes_per_s"), 40e6);
  EXPECT_EQ(value(metrics, "gpu.throttled_share"), -1);  // the GPU is only idle
  EXPECT_EQ(value(metrics, "link.width"), 16);
  EXPECT_EQ(value(metrics, "link.gts"), 16);
  EXPECT_EQ(value(metrics, "link.max_gts"), 32);
}

// The second GPU of the library does not count.
TEST(GpuSampler, ExplainsGpusThatDoNotCount) {
  const auto counting_row = [](const std::vector<GpuSample>& samples) {
    for (const Metric& metric : gpu_load_metrics(samples))
      if (metric.name == "gpu.counting") return metric;
    return Metric{};
  };
  GpuLoads loads(LOADERSCOPE_PRETEND_NVML);
  std::vector<GpuSample> samples = {sample_at(1, 1, 1)};
  samples[0].details = loads.details(1);
  EXPECT_EQ(counting_row(samples).value, 0);
  EXPECT_THAT(counting_row(samples).help,
              testing::EndsWith("; of others: not supported by this GPU"));
  samples.push_back(sample_at(1, 0, 1));
  loads.details(0);
  samples[1].details = loads.details(0);
  EXPECT_EQ(counting_row(samples).value, 1);
  samples.erase(samples.begin());
  EXPECT_EQ(counting_row(samples).help, "GPUs of them whose performance counters (GPM) are read");
  EXPECT_EQ(counting_row({sample_at(1, 0, 1)}).name, "");  // no counters were read
}

TEST(GpuSampler, ReportsNothingWithoutLibrary) {
  const GpuSampler watch("libnowhere.so.1");
  EXPECT_FALSE(watch.sees_gpus());
  EXPECT_TRUE(watch.samples().empty());
  EXPECT_TRUE(gpu_load_metrics({}).empty());
}

TEST(GpuSampler, NamesEveryReasonForLowerClocks) {
  struct Reason {
    const char* bits;
    const char* metric;  // null: nothing holds them down
  };
  for (const Reason& reason : {Reason{"0x0", nullptr},
                               {"0x1", nullptr},  // idle
                               {"0x4", "gpu.throttled_by_power_share"},
                               {"0x80", "gpu.throttled_by_power_share"},
                               {"0x88", "gpu.throttled_by_power_share"},
                               {"0x20", "gpu.throttled_by_heat_share"},
                               {"0x40", "gpu.throttled_by_heat_share"},
                               {"0x48", "gpu.throttled_by_heat_share"},
                               {"0x8", "gpu.throttled_by_hardware_share"},
                               {"0x10", nullptr},  // clocks follow other GPUs
                               {"0x100", nullptr}}) {
    const Environment set("PRETEND_NVML_REASONS", reason.bits);
    GpuSample sample = sample_at(1, 0, 1);
    sample.details = GpuLoads(LOADERSCOPE_PRETEND_NVML).details(0);
    const std::vector<Metric> metrics = gpu_load_metrics({sample});
    EXPECT_EQ(value(metrics, "gpu.throttled_share"), reason.metric == nullptr ? -1 : 1)
        << reason.bits;
    if (reason.metric == nullptr) continue;
    EXPECT_EQ(value(metrics, reason.metric), 1) << reason.bits;
  }
  EXPECT_TRUE(held_clocks(0x2).setting_limited);
  EXPECT_FALSE(held_clocks(0x2).is_held());
}

TEST(GpuSampler, CountsOnlyWindowAndGpusOfJob) {
  std::vector<GpuSample> all;
  for (const Nanos at : {100, 200, 300}) {
    all.push_back(sample_at(at, 0, 0.1));
    all.push_back(sample_at(at, 1, at == 300 ? 0.9 : 0.5));
  }
  EXPECT_EQ(samples_of_job(all, 150, 250).size(), 2U);
  EXPECT_DOUBLE_EQ(value(gpu_load_metrics(samples_of_job(all, 0, 250)), "gpu.kernel_share"), 0.3);
  all[3].is_ours = true;
  const std::vector<Metric> metrics = gpu_load_metrics(samples_of_job(all, 0, 250));
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.kernel_share"), 0.5);
  EXPECT_DOUBLE_EQ(value(metrics, "gpu.memory_bytes"), 2e9);
}

TEST(GpuSampler, IgnoresIdleLinks) {
  std::vector<GpuSample> all = {sample_at(1, 0, 0), sample_at(2, 0, 0.5)};
  all[0].link = {1, 16};
  EXPECT_EQ(value(gpu_load_metrics(all), "link.gts"), 16);
  all.pop_back();
  EXPECT_EQ(value(gpu_load_metrics(all), "link.gts"), -1);
}

}  // namespace
}  // namespace loaderscope
