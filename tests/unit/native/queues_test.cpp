// The queues between threads.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/sleep.h"
#include "engine/native/blocking_queue.h"
#include "engine/native/sample_queue.h"
#include "machine/proc_file.h"

namespace loaderscope::native {
namespace {

// 'S' sleeps, 'R' runs or waits for a core.
char thread_state(pid_t thread) {
  const auto stat = read_process_stat("/proc/self/task/" + std::to_string(thread));
  return stat ? stat->state : '?';
}

TEST(BlockingQueue, KeepsOrderAndReportsWaits) {
  BlockingQueue<int> queue(3);
  for (int round = 0; round < 5; ++round) {  // rounds that wrap around the ring
    for (int i = 0; i < 3; ++i) queue.push(i);
    for (int i = 0; i < 3; ++i) {
      const auto popped = queue.pop();
      ASSERT_TRUE(popped);
      EXPECT_EQ(popped->item, i);
      EXPECT_FALSE(popped->waited);
    }
  }
  const auto asks = [asker = ::gettid()] { return thread_state(asker) == 'S'; };
  std::thread later([&] {
    while (!asks()) sleep_until(monotonic_now() + kMillisecond);
    sleep_until(monotonic_now() + 20 * kMillisecond);  // the wait that is measured
    queue.push(7);
  });
  const auto popped = queue.pop();
  later.join();
  ASSERT_TRUE(popped);
  EXPECT_TRUE(popped->waited);
  EXPECT_GE(queue.read_stats("ready").get_wait, 20 * kMillisecond);
}

TEST(BlockingQueue, DeliversEachItemOnce) {
  constexpr int kItems = 20'000, kThreads = 4;
  BlockingQueue<int> queue(kItems);
  std::vector<std::atomic<int>> seen(kItems);
  std::vector<std::thread> threads;
  std::atomic<int> left{kItems};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      while (const auto popped = queue.pop()) {
        seen[static_cast<std::size_t>(popped->item)].fetch_add(1);
        if (left.fetch_sub(1) == 1) queue.close();
      }
    });
    threads.emplace_back([&, t] {
      for (int i = t; i < kItems; i += kThreads) queue.push(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& count : seen) EXPECT_EQ(count.load(), 1);
}

TEST(BlockingQueue, WakesAllWaitersOnClose) {
  BlockingQueue<int> queue(2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back([&] { EXPECT_FALSE(queue.pop()); });
  sleep_until(monotonic_now() + 10 * kMillisecond);
  queue.close();
  for (std::thread& thread : threads) thread.join();
  queue.push(1);
  EXPECT_FALSE(queue.pop());
}

// The queue holds two for at least two thirds of the time, however long the puts took.
TEST(BlockingQueue, ReportsMeanOccupancyOverTime) {
  BlockingQueue<int> queue(4);
  const Nanos begin = monotonic_now();
  queue.read_stats("ready");
  queue.push(1);
  queue.push(2);
  const Nanos filled = monotonic_now();
  sleep_until(filled + 2 * (filled - begin) + kMillisecond);
  const QueueStats full = queue.read_stats("ready");
  EXPECT_EQ(full.name, "ready");
  EXPECT_EQ(full.capacity, 4);
  EXPECT_EQ(full.max_occupancy, 2);
  EXPECT_GT(full.mean_occupancy, 1);
  EXPECT_LE(full.mean_occupancy, 2);
  queue.pop();
  queue.pop();
  EXPECT_EQ(queue.read_stats("ready").max_occupancy, 2);  // largest value since the last read
  sleep_until(monotonic_now() + 5 * kMillisecond);
  const QueueStats empty = queue.read_stats("ready");
  EXPECT_EQ(empty.max_occupancy, 0);
  EXPECT_EQ(empty.mean_occupancy, 0);
}

TEST(SampleQueue, DeliversEachSampleOnceInOrderOfBatches) {
  constexpr int kQueued = 50, kSamples = 40, kThreads = 4;
  SampleQueue queue(kQueued);
  std::vector<Batch> batches(kQueued);
  std::vector<std::vector<std::atomic<int>>> seen(kQueued);
  for (auto& batch_counts : seen) batch_counts = std::vector<std::atomic<int>>(kSamples);
  std::atomic<int> left{kQueued * kSamples};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      std::int64_t last = -1;
      while (const auto task = queue.pop()) {
        const std::int64_t at = task->batch->events.batch * kSamples + task->position;
        EXPECT_GT(at, last);
        last = at;
        seen[static_cast<std::size_t>(task->batch->events.batch)]
            [static_cast<std::size_t>(task->position)]
                .fetch_add(1);
        if (left.fetch_sub(1) == 1) queue.close();
      }
    });
  }
  for (int i = 0; i < kQueued; ++i) {
    Batch& batch = batches[static_cast<std::size_t>(i)];
    batch.events.batch = i;
    batch.events.samples = kSamples;
    queue.push(&batch);
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& batch_counts : seen) {
    for (const auto& count : batch_counts) EXPECT_EQ(count.load(), 1);
  }
}

TEST(SampleQueue, EndsWaitOnClose) {
  SampleQueue queue(1);
  std::thread waiting([&] { EXPECT_FALSE(queue.pop()); });
  sleep_until(monotonic_now() + 5 * kMillisecond);
  queue.close();
  waiting.join();
}

}  // namespace
}  // namespace loaderscope::native
