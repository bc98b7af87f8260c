// Counters of the process: faults, CPU time, memory and its slope.
#include "machine/process_counters.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "unit/machine/pretend_root.h"

namespace loaderscope {
namespace {

const Metric* find(const std::vector<Metric>& metrics, const std::string& name) {
  const auto at = std::find_if(metrics.begin(), metrics.end(),
                               [&](const Metric& metric) { return metric.name == name; });
  return at == metrics.end() ? nullptr : &*at;
}

// Memory from the kernel, with each page touched: an allocator may reuse pages of earlier tests.
class FreshMemory {
 public:
  explicit FreshMemory(std::size_t bytes)
      : bytes_(bytes),
        place_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (place_ == MAP_FAILED) throw std::bad_alloc();
    std::memset(place_, 1, bytes);
  }
  ~FreshMemory() { ::munmap(place_, bytes_); }
  FreshMemory(const FreshMemory&) = delete;
  FreshMemory& operator=(const FreshMemory&) = delete;

 private:
  std::size_t bytes_;
  void* place_;
};

TEST(ProcessCounters, CountsEventsBetweenReadings) {
  const std::atomic<int> no_stop{0};
  const ProcessCounters begin = read_process_counters();
  burn_cpu(30 * kMillisecond, no_stop);
  const FreshMemory memory(32 << 20);
  const ProcessCounters end = read_process_counters();
  const std::vector<Metric> metrics = process_metrics(begin, end, MemoryWatch());
  ASSERT_NE(find(metrics, "process.cpu_s"), nullptr);
  EXPECT_GE(find(metrics, "process.cpu_s")->value, 0.025);
  EXPECT_GT(find(metrics, "process.minor_faults")->value, 0);
  EXPECT_GE(find(metrics, "memory.resident_bytes")->value, 32 << 20);
  EXPECT_EQ(find(metrics, "memory.growth_bytes_per_s"), nullptr);
  for (const Metric& metric : metrics) {
    EXPECT_FALSE(metric.help.empty());
    EXPECT_GE(metric.value, 0) << metric.name;
  }
}

TEST(ProcessCounters, ReadsTimeThrottledByQuota) {
  const test::PretendRoot root;
  root.write("proc/self/cgroup", "0::/job\n");
  root.write("sys/fs/cgroup/job/cpu.stat", "nr_throttled 3\nthrottled_usec 1500000\n");
  const ProcessCounters begin = read_process_counters({}, root.path());
  root.write("sys/fs/cgroup/job/cpu.stat", "nr_throttled 9\nthrottled_usec 4000000\n");
  const ProcessCounters end = read_process_counters({}, root.path());
  const std::vector<Metric> metrics = process_metrics(begin, end, MemoryWatch());
  ASSERT_NE(find(metrics, "host.throttled_s"), nullptr);
  EXPECT_DOUBLE_EQ(find(metrics, "host.throttled_s")->value, 2.5);
}

TEST(ProcessCounters, SeparatesOtherProgramsFromThisOne) {
  ProcessCounters begin, end;
  begin.busy_s = 100;
  end.busy_s = 107;
  end.user_s = 1.5;
  end.system_s = 0.5;
  std::vector<Metric> metrics = process_metrics(begin, end, MemoryWatch());
  ASSERT_NE(find(metrics, "host.other_cpu_s"), nullptr);
  EXPECT_DOUBLE_EQ(find(metrics, "host.other_cpu_s")->value, 5);
  end.busy_s = 101;  // clocks that tick differently
  metrics = process_metrics(begin, end, MemoryWatch());
  EXPECT_EQ(find(metrics, "host.other_cpu_s")->value, 0);
  end.busy_s.reset();
  metrics = process_metrics(begin, end, MemoryWatch());
  EXPECT_EQ(find(metrics, "host.other_cpu_s"), nullptr);
}

// A busy machine makes the time between two points longer: the slope is compared with all of it.
TEST(MemoryWatch, FitsTheSlopeOfAGrowingProcess) {
  constexpr double kStep = 20 << 20;
  MemoryWatch watch;
  std::vector<std::unique_ptr<FreshMemory>> memory;
  const Nanos begin = monotonic_now();
  Nanos end = begin;
  for (int i = 0; i < 5; ++i) {
    end = monotonic_now();
    watch.look();
    watch.look();  // too early: not another point
    EXPECT_EQ(watch.bytes_per_second().has_value(), i >= 3);
    memory.push_back(std::make_unique<FreshMemory>(static_cast<std::size_t>(kStep)));
    sleep_until(monotonic_now() + 501 * kMillisecond);  // a point at most twice a second
  }
  ASSERT_TRUE(watch.bytes_per_second());
  const double grown = *watch.bytes_per_second() * seconds(end - begin);  // bytes in four steps
  EXPECT_GT(grown, 2 * kStep);
  EXPECT_LT(grown, 50 * kStep);  // sanitizers add their own
  watch.restart();
  EXPECT_FALSE(watch.bytes_per_second());
}

}  // namespace
}  // namespace loaderscope
