// Checks the records of CUPTI against kernels and copies of known lengths, on the host's clock.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/quantiles.h"
#include "base/symbol.h"
#include "base/thread_meter.h"
#include "gpu/gpu_test.h"
#include "guest/host/gpu_timeline.h"
#include "guest/library/gpu_activity.h"

namespace loaderscope::cuda {
namespace {

constexpr Nanos kSpin = 5 * kMillisecond;
constexpr std::size_t kCopied = std::size_t{64} << 20;

std::vector<guest::GpuRecord>& records() {
  static std::vector<guest::GpuRecord> all;
  return all;
}

TEST_F(GpuTest, RecordsKernelsAndCopiesWithCupti) {
  void* place = objects_->memory(kCopied, "copied");
  void* host = objects_->host_memory(kCopied, "copied");
  const Stream stream = objects_->stream();
  Spin spin;
  spin.duration = kSpin;
  ASSERT_TRUE(runtime_->spin(spin, stream).ok());  // loads it
  ASSERT_TRUE(runtime_->synchronise_device().ok());

  const char* refusal = guest::gpu_activity::watch(
      [](const guest::GpuRecord& record) { records().push_back(record); });
  if (refusal != nullptr && std::getenv("LOADERSCOPE_CUPTI") == nullptr) GTEST_SKIP() << refusal;
  ASSERT_EQ(refusal, nullptr) << refusal;

  const Nanos begin = monotonic_now();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(runtime_->spin(spin, stream).ok());
  ASSERT_TRUE(runtime_->copy_to_device(place, host, kCopied, stream).ok());
  ASSERT_TRUE(runtime_->synchronise_device().ok());
  const Nanos end = monotonic_now();
  guest::gpu_activity::flush();
  guest::gpu_activity::record(false);

  guest::GpuTimeline timeline;
  int kernels = 0, copies = 0;
  for (const guest::GpuRecord& record : records()) {
    EXPECT_GE(record.begin, begin - kNear);
    EXPECT_LE(record.end, end + kNear);
    if (record.kind == guest::GpuRecord::Kind::copy) {
      ++copies;
      EXPECT_EQ(record.bytes, static_cast<Bytes>(kCopied));
    } else {
      ++kernels;
      EXPECT_NEAR(static_cast<double>(record.end - record.begin), kSpin, kNear);
      timeline.kernel(record.begin, record.end);
    }
  }
  EXPECT_EQ(kernels, 3);
  EXPECT_EQ(copies, 1);
  const auto work = timeline.take(begin - kNear, end + kNear);
  ASSERT_TRUE(work);
  EXPECT_NEAR(static_cast<double>(work->compute.wall()), 3 * kSpin, 3 * kNear);
}

TEST(GpuActivity, StaysOffOnRequest) {
  ASSERT_EQ(::setenv("LOADERSCOPE_CUPTI", "off", 1), 0);
  const std::string refusal = guest::gpu_activity::watch([](const guest::GpuRecord&) {});
  if (refusal.find("built without CUPTI") != std::string::npos) GTEST_SKIP() << refusal;
  EXPECT_EQ(refusal, "LOADERSCOPE_CUPTI is off");
}

// The kinds of CUPTI's that gpu_activity records.
constexpr int kMemcpy = 1, kKernels = 10;

// Prints the host's time per launch without records, with records of each kind and with both. A
// program that is limited by its launches pays this time for each. The cases alternate, because the
// host's speed changes.
TEST_F(GpuTest, MeasuresCostOfRecordingPerLaunch) {
  constexpr int kRounds = 15, kLaunches = 800;  // fewer than a GPU queues
  const char* given = std::getenv("LOADERSCOPE_CUPTI");
  void* library = given != nullptr ? ::dlopen(given, RTLD_NOW) : nullptr;
  if (library == nullptr) GTEST_SKIP() << "LOADERSCOPE_CUPTI names no libcupti";
  int (*enable)(int) = nullptr;
  ASSERT_TRUE(find_symbol(enable, library, "cuptiActivityEnable"));
  const Stream stream = objects_->stream();
  ASSERT_TRUE(runtime_->spin(Spin{}, stream).ok());
  const char* refusal = guest::gpu_activity::watch([](const guest::GpuRecord&) {});
  ASSERT_EQ(refusal, nullptr) << refusal;

  const std::map<std::string, std::vector<int>> cases = {{"without", {}},
                                                         {"kernels", {kKernels}},
                                                         {"copies", {kMemcpy}},
                                                         {"both", {kKernels, kMemcpy}}};
  std::map<std::string, std::vector<double>> launch_ns;
  for (int round = 0; round < kRounds; ++round) {
    for (const auto& [name, kinds] : cases) {
      guest::gpu_activity::record(false);
      for (const int kind : kinds) ASSERT_EQ(enable(kind), 0);
      ASSERT_TRUE(runtime_->spin(Spin{}, stream).ok());  // the first of a kind prepares it
      ASSERT_TRUE(runtime_->synchronise_device().ok());
      const Nanos begin = monotonic_now();
      for (int i = 0; i < kLaunches; ++i) ASSERT_TRUE(runtime_->spin(Spin{}, stream).ok());
      launch_ns[name].push_back(static_cast<double>(monotonic_now() - begin) / kLaunches);
      ASSERT_TRUE(runtime_->synchronise_device().ok());
    }
  }
  guest::gpu_activity::stop();
  for (const auto& [name, times] : launch_ns)
    std::printf("figure launch_%s_ns=%g\n", name.c_str(), find_median(times));
  EXPECT_LT(find_median(launch_ns["both"]), find_median(launch_ns["without"]) + 20'000);
}

}  // namespace
}  // namespace loaderscope::cuda
