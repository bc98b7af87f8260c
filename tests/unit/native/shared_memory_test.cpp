// Locks, queues and rings of facts that processes share, across a fork and a death.
#include "base/shared_memory.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "base/sleep.h"
#include "engine/native/blocking_queue.h"
#include "engine/native/process_table.h"
#include "engine/native/sample_queue.h"
#include "loaderscope/errors.h"
#include "record/recorder.h"
#include "record/shared_ring.h"

namespace loaderscope::native {
namespace {

// A process that runs `body` and ends; killed where the test is over before it.
class Fork {
 public:
  explicit Fork(const std::function<void()>& body) : pid_(::fork()) {
    if (pid_ != 0) return;
    body();
    ::_exit(0);
  }
  ~Fork() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Fork(const Fork&) = delete;
  Fork& operator=(const Fork&) = delete;

  void kill() const { ::kill(pid_, SIGKILL); }
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
};

TEST(SharedMemory, SharesBytesWithLaterFork) {
  SharedMemory memory;
  const auto number = place<std::atomic<int>>(memory, 1);
  auto* large = static_cast<std::byte*>(memory.allocate(3 << 20, 4096));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large) % 4096, 0U);
  memory.close();
  Fork child([&] {
    *number = 42;
    large[(3 << 20) - 1] = std::byte{7};
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(number->load(), 42);
  EXPECT_EQ(large[(3 << 20) - 1], std::byte{7});
}

TEST(SharedMemory, RejectsAllocationAfterClose) {
  SharedMemory memory;
  memory.close();
  EXPECT_THROW(static_cast<void>(memory.allocate(1)), std::logic_error);
}

// A fork copies them one by one.
TEST(SharedMemory, KeepsNumberOfMappingsSmall) {
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);)
      count += line.find("memfd:loaderscope") != line.npos ? 1 : 0;
    return count;
  };
  const int before = mappings();
  SharedMemory memory;
  for (int i = 0; i < 4000; ++i) static_cast<void>(memory.allocate(3 << 20, 64));
  EXPECT_LE(mappings() - before, 20);
}

TEST(SharedMemory, ReportsFailedAllocationInOneSentence) {
  SharedMemory memory;
  try {
    static_cast<void>(memory.allocate(std::size_t{1} << 55));
    ADD_FAILURE();
  } catch (const RunError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("host memory: ")) << error.what();
  }
}

TEST(SharedQueue, CarriesItemsBothWaysBetweenProcesses) {
  constexpr int kItems = 2000;
  SharedMemory memory;
  const auto there = place<BlockingQueue<int>>(memory, 4U, memory);
  const auto back = place<BlockingQueue<int>>(memory, 4U, memory);
  Fork child([&] {
    while (const auto popped = there->pop()) back->push(popped->item + 1);
  });
  for (int i = 0; i < kItems; ++i) {
    there->push(i);
    const auto popped = back->pop();
    ASSERT_TRUE(popped);
    ASSERT_EQ(popped->item, i + 1);
  }
  there->close();
  EXPECT_EQ(child.wait(), 0);
}

TEST(SharedQueue, WorksAgainAfterReopen) {
  BlockingQueue<int> queue(2);
  queue.push(1);
  queue.close();
  EXPECT_FALSE(queue.pop());
  queue.reopen();
  EXPECT_FALSE(queue.try_pop());
  EXPECT_TRUE(queue.try_push(2));
  EXPECT_TRUE(queue.try_push(3));
  EXPECT_FALSE(queue.try_push(4));
  EXPECT_EQ(queue.pop()->item, 2);
}

// A process that is killed while it waits, or while it holds the lock, blocks no other process.
TEST(SharedQueue, OutlivesAKilledProcess) {
  SharedMemory memory;
  const auto queue = place<BlockingQueue<int>>(memory, 4U, memory);
  const auto mutex = place<ProcessMutex>(memory);
  const auto ready = place<BlockingQueue<int>>(memory, 4U, memory);
  Fork waiting([&] {
    ready->push(1);
    queue->pop();
  });
  Fork holding([&] {
    mutex->lock();
    ready->push(1);
    ::pause();
  });
  ASSERT_TRUE(ready->pop());
  ASSERT_TRUE(ready->pop());
  waiting.kill();
  holding.kill();
  EXPECT_TRUE(WIFSIGNALED(waiting.wait()));
  EXPECT_TRUE(WIFSIGNALED(holding.wait()));
  mutex->lock();
  mutex->unlock();
  mutex->lock();
  mutex->unlock();
  queue->push(5);
  EXPECT_EQ(queue->pop()->item, 5);
}

// From now on futexes fail in this process with `error`, as they may where the kernel has no memory
// for a page that they lie in.
void let_futexes_fail(int error) {
  constexpr auto kData = static_cast<std::uint32_t>(SECCOMP_RET_DATA);
  std::array<sock_filter, 4> steps = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & kData)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{static_cast<unsigned short>(steps.size()), steps.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    ::_exit(77);
}

TEST(SharedQueue, OutlivesFutexesThatFail) {
  for (const int error : {ENOMEM, EFAULT, EINTR, EINVAL}) {
    SharedMemory memory;
    const auto queue = place<BlockingQueue<int>>(memory, 1000U, memory);
    const auto taken = place<BlockingQueue<int>>(memory, 1000U, memory);
    const auto take = [&] {
      let_futexes_fail(error);
      while (const auto popped = queue->pop()) taken->push(popped->item);
    };
    Fork one(take), other(take), third(take);
    for (int i = 0; i < 500; ++i) queue->push(i);
    int sum = 0;
    for (int i = 0; i < 500; ++i) sum += taken->pop()->item;
    queue->close();
    for (Fork* process : {&one, &other, &third}) {
      const int status = process->wait();
      if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp here";
      EXPECT_EQ(status, 0) << std::strerror(error);
    }
    EXPECT_EQ(sum, 499 * 500 / 2);
  }
}

TEST(SharedQueue, DividesSamplesOfBatchBetweenProcesses) {
  constexpr int kSamples = 400;
  SharedMemory memory;
  const auto tasks = place<SampleQueue>(memory, 2U, memory);
  const auto batch = place<Batch>(memory, 1U, memory);
  const auto taken = place<BlockingQueue<std::int64_t>>(memory, 2U * kSamples, memory);
  const auto take = [&] {
    while (const auto task = tasks->pop()) taken->push(task->position);
  };
  Fork one(take), other(take);
  batch->events.samples = kSamples;
  tasks->push(batch.get());
  std::vector<int> seen(kSamples);
  for (int i = 0; i < kSamples; ++i) ++seen[static_cast<std::size_t>(taken->pop()->item)];
  tasks->close();
  EXPECT_EQ(one.wait(), 0);
  EXPECT_EQ(other.wait(), 0);
  EXPECT_EQ(seen, std::vector<int>(kSamples, 1));
}

struct NotedSpans : EventObserver {
  std::vector<Span> spans;
  void first_ask(std::int32_t, Nanos) override {}
  void span(std::int32_t, std::int32_t, const Span& span) override { spans.push_back(span); }
  void deliverable(std::int32_t, std::int64_t, Nanos) override {}
  void step(std::int32_t, const StepEvents&) override {}
};

TEST(SharedRing, ReportsFilledShare) {
  constexpr std::size_t kCapacity = 4;
  alignas(64) std::array<std::byte, SharedRing<int>::bytes_for(kCapacity)> memory{};
  SharedRing<int> ring(memory.data(), kCapacity);
  EXPECT_EQ(ring.filled(), 0);
  for (int i = 0; i < 3; ++i) ring.push(i);
  EXPECT_EQ(ring.filled(), 0.75);
  EXPECT_TRUE(ring.take_all([](int) {}));
  EXPECT_EQ(ring.filled(), 0);
}

TEST(SharedRing, BringsTheSpansOfAnotherProcessAndCountsWhatIsLost) {
  NotedSpans noted;
  FoldOptions options;
  options.observer = &noted;
  SharedMemory memory;
  Recorder recorder(options, 8, memory);
  ThreadLog& log = recorder.add_thread(0, 0);
  memory.close();
  Fork child([&] {
    for (int i = 0; i < 10; ++i) {
      Span span;
      span.begin = i;
      span.end = i + 1;
      span.stage = Stage::decode;
      log.span(span);
    }
  });
  EXPECT_EQ(child.wait(), 0);
  recorder.drain();
  ASSERT_EQ(noted.spans.size(), 8U);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(noted.spans[static_cast<std::size_t>(i)].begin, i);
  EXPECT_EQ(recorder.lost(), 2);
}

template <class Error>
void expect_brought(const Error& thrown, const std::string& text) {
  SharedMemory memory;
  const auto failure = place<WorkerFailure>(memory);
  Fork child([&] { failure->keep(std::make_exception_ptr(thrown)); });
  EXPECT_EQ(child.wait(), 0);
  ASSERT_TRUE(failure->kept());
  try {
    failure->rethrow();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), text);
  }
  failure->clear();
  EXPECT_FALSE(failure->kept());
}

TEST(WorkerFailure, KeepsItsKindAndItsWords) {
  expect_brought(RunError("a.jpg: it ends early"), "a.jpg: it ends early");
  expect_brought(std::runtime_error("something else"), "something else");
  expect_brought(std::bad_alloc(), std::bad_alloc().what());
}

}  // namespace
}  // namespace loaderscope::native
