// Checks behaviour of the driver that is not documented and that the code relies on. Prints each
// number that scripts/gpu-check keeps as a line "figure NAME=VALUE".
#include <algorithm>
#include <cstdio>

#include "base/thread_meter.h"
#include "gpu/globaltimer.h"
#include "gpu/gpu_test.h"

namespace loaderscope::cuda {
namespace {

constexpr std::size_t kFirstCopy = std::size_t{1} << 20;
constexpr Nanos kSoon = 500 * kMillisecond;

void print_figure(const char* name, double value) { std::printf("figure %s=%g\n", name, value); }

class DriverTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    word_ = static_cast<std::int64_t*>(objects_->host_memory(64, "a word"));
    *word_ = 0;
  }

  // A kernel that runs until the test ends, or for 10 s.
  void hold(Stream stream) {
    Spin spin;
    spin.duration = 10 * kSecond;
    spin.abort = word_;
    ASSERT_TRUE(runtime_->spin(spin, stream).ok());
  }
  void TearDown() override {
    if (word_ == nullptr) return;
    *static_cast<volatile std::int64_t*>(word_) = 1;
    EXPECT_TRUE(runtime_->synchronise_device().ok());
  }
  bool is_done_soon(Event event) {
    const Nanos until = monotonic_now() + kSoon;
    bool done = false;
    while (!done && monotonic_now() < until) EXPECT_TRUE(runtime_->query(event, done).ok());
    return done;
  }

  std::int64_t* word_ = nullptr;
};

TEST_F(DriverTest, UpdatesGlobalTimerEveryMicrosecond) {
  constexpr std::size_t kReadings = 20000;
  std::vector<std::int64_t> readings(kReadings);
  const std::size_t bytes = kReadings * sizeof(std::int64_t);
  auto* place = static_cast<std::int64_t*>(objects_->memory(bytes, "readings"));
  const Stream stream = objects_->stream();
  ASSERT_EQ(launch_readings(place, kReadings, static_cast<CUstream_st*>(stream.handle)), 0);
  ASSERT_TRUE(runtime_->copy_to_host(readings.data(), place, bytes, stream).ok());
  ASSERT_TRUE(runtime_->synchronise_device().ok());
  std::vector<std::int64_t> ticks;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    ASSERT_GE(readings[i], readings[i - 1]);
    if (readings[i] > readings[i - 1]) ticks.push_back(readings[i] - readings[i - 1]);
  }
  ASSERT_FALSE(ticks.empty());
  std::sort(ticks.begin(), ticks.end());
  print_figure("tick_ns", static_cast<double>(ticks[ticks.size() / 2]));
  print_figure("longest_tick_ns", static_cast<double>(ticks.back()));
  EXPECT_LE(ticks[ticks.size() / 2], kMicrosecond);
}

TEST_F(DriverTest, GivesThirtyStreamsSeparateQueues) {
  constexpr int kStreams = 30;
  std::vector<Stream> streams;
  for (int i = 0; i < kStreams; ++i) streams.push_back(objects_->stream());
  Spin one;
  one.duration = kMillisecond;
  for (const Stream stream : streams) ASSERT_TRUE(runtime_->spin(one, stream).ok());
  ASSERT_TRUE(runtime_->synchronise_device().ok());
  for (int i = 0; i + 1 < kStreams; ++i) hold(streams[static_cast<std::size_t>(i)]);
  const Event event = objects_->event();
  ASSERT_TRUE(runtime_->spin(one, streams.back()).ok());
  ASSERT_TRUE(runtime_->record(event, streams.back()).ok());
  EXPECT_TRUE(is_done_soon(event));
}

TEST_F(DriverTest, RunsFirstCopyOnNewStreamDuringKernel) {
  void* target = objects_->memory(kFirstCopy, "a target");
  void* host = objects_->host_memory(kFirstCopy, "a source");
  const Stream held = objects_->stream();
  hold(held);
  const Nanos begin = monotonic_now();
  const Stream fresh = objects_->stream();
  const Event event = objects_->event();
  ASSERT_TRUE(runtime_->copy_to_device(target, host, kFirstCopy, fresh).ok());
  ASSERT_TRUE(runtime_->record(event, fresh).ok());
  EXPECT_TRUE(is_done_soon(event));
  print_figure("first_copy_s", seconds(monotonic_now() - begin));
}

}  // namespace
}  // namespace loaderscope::cuda
