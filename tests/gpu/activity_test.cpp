// What CUPTI says of kernels and copies of known lengths, on the host's clock.
#include <cstdlib>

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

TEST_F(GpuTest, CuptiSaysWhatTheGpuDid) {
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
  ASSERT_TRUE(runtime_->copy_in(place, host, kCopied, stream).ok());
  ASSERT_TRUE(runtime_->synchronise_device().ok());
  const Nanos end = monotonic_now();
  guest::gpu_activity::flush();
  guest::gpu_activity::record(false);

  guest::GpuTimeline timeline;
  int kernels = 0, copies = 0;
  for (const guest::GpuRecord& record : records()) {
    EXPECT_GE(record.begin, begin - kNear);
    EXPECT_LE(record.end, end + kNear);
    if (record.copy) {
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

}  // namespace
}  // namespace loaderscope::cuda
