// Memory of the processes of a job. Each reading costs the processes time.
#include "guest/host/resource_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <limits>
#include <vector>

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMuch = std::size_t{64} << 20;
const SamplingPace kOnlyOnce{std::numeric_limits<Nanos>::max() / 2, 1};

std::vector<JobProcess> self(bool is_worker = true) { return {{::getpid(), is_worker}}; }

TEST(JobMemory, CountsPrivateMemoryOfWorkers) {
  JobMemory memory;
  EXPECT_TRUE(memory.metrics(10, 1).empty());
  memory.look(self(), false);
  EXPECT_GT(value_of(memory.metrics(10, 1), "memory.worker_private_bytes").value_or(0), 0);
  EXPECT_GT(memory.resident(), 0);
}

TEST(JobMemory, ExcludesTrainerFromWorkerMemory) {
  JobMemory memory;
  memory.look(self(false), false);
  EXPECT_FALSE(value_of(memory.metrics(10, 1), "memory.worker_private_bytes"));
  EXPECT_GT(memory.resident(), 0);
}

TEST(JobMemory, ReadsMemoryWhenDueAndAtEnd) {
  JobMemory memory(kOnlyOnce);
  memory.look(self(), false);
  const Bytes before = memory.resident();
  const std::vector<char> held(kMuch, 1);
  memory.look(self(), false);
  EXPECT_EQ(memory.resident(), before);
  memory.look(self(), true);
  EXPECT_GE(memory.resident(), before + static_cast<Bytes>(kMuch / 2));
  EXPECT_EQ(held.back(), 1);
}

TEST(JobMemory, KeepsLastMemoryOfEndedProcesses) {
  JobMemory memory;
  memory.look(self(), false);
  const Bytes before = memory.resident();
  memory.look({{-1, true}}, true);
  memory.look({}, true);
  EXPECT_EQ(memory.resident(), before);
  EXPECT_GT(value_of(memory.metrics(10, 1), "memory.worker_private_bytes").value_or(0), 0);
}

}  // namespace
}  // namespace loaderscope::guest
