#include "machine/machine.h"

#include <gtest/gtest.h>

#include "machine/cgroup.h"
#include "machine/process_counters.h"
#include "unit/machine/pretend_root.h"

namespace loaderscope {
namespace {

using test::PretendRoot;

TEST(Machine, ReadsThisOne) {
  const MachineFacts machine = read_machine();
  EXPECT_GT(machine.cores, 0);
  EXPECT_LE(machine.cores, static_cast<double>(machine.logical_cpus));
  EXPECT_GT(machine.memory_bytes, 0);
  EXPECT_FALSE(machine.kernel.empty());
}

TEST(Machine, ReadsVersion2GroupsAndTheirParents) {
  const PretendRoot root;
  root.write("proc/self/cgroup", "0::/a/b\n");
  root.write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  root.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  root.write("sys/fs/cgroup/a/memory.max", "1073741824\n");
  EXPECT_EQ(cgroup_cores(root.path()), 1.5);
  EXPECT_EQ(cgroup_memory(root.path()), Bytes{1} << 30);
}

TEST(Machine, ReadsVersion1Groups) {
  const PretendRoot root;
  root.write("proc/self/cgroup", "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us",
             "50000\n");  // the path of the host is not there
  root.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(cgroup_cores(root.path()), 0.5);
  EXPECT_EQ(cgroup_memory(root.path()), std::nullopt);
}

// Two processes share a quota if their group is the same. The paths that they see may differ.
TEST(Machine, IdentifiesQuotaByGroup) {
  const PretendRoot root;
  root.write("proc/self/cgroup", "0::/pod/a\n");
  root.write("proc/7/cgroup", "0::/pod/b\n");
  root.write("proc/8/cgroup", "0::/c\n");
  root.write("sys/fs/cgroup/pod/cpu.max", "200000 100000\n");
  root.write("sys/fs/cgroup/pod/a/cpu.max", "200000 100000\n");
  root.write("sys/fs/cgroup/pod/b/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/c/cpu.max", "200000 100000\n");
  const auto a = cgroup_quota(root.path()), b = cgroup_quota(root.path(), "7"),
             c = cgroup_quota(root.path(), "8");
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(a->cores, 2);
  EXPECT_NE(a->group, "");
  EXPECT_EQ(a->group, b->group);
  EXPECT_NE(a->group, c->group);
}

TEST(Machine, ReportsNoLimitIfUnlimitedDamagedOrMissing) {
  const PretendRoot root;
  EXPECT_EQ(cgroup_cores(root.path()), std::nullopt);
  root.write("proc/self/cgroup", "nonsense\n0::/\n");
  root.write("sys/fs/cgroup/cpu.max", "0 x");
  EXPECT_EQ(cgroup_cores(root.path()), std::nullopt);
  EXPECT_EQ(cgroup_memory(root.path()), std::nullopt);
}

// A kernel writes "0::/"; what else writes such a file may leave the path out.
TEST(Machine, TreatsGroupWithoutPathAsRoot) {
  const PretendRoot root;
  root.write("proc/self/cgroup", "0::\n");
  root.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  root.write("sys/fs/cgroup/cpu.stat", "usage_usec 5\nthrottled_usec 1500000\n");
  EXPECT_EQ(cgroup_cores(root.path()), 0.5);
  EXPECT_EQ(read_process_counters({}, root.path()).throttled_s, 1.5);
}

// The quota of a slice throttles the slice, and the file of its service contains 0.
TEST(Machine, ReportsThrottlingByQuotaOfParent) {
  const PretendRoot root;
  root.write("proc/self/cgroup", "0::/slice/service\n");
  root.write("sys/fs/cgroup/slice/cpu.stat", "throttled_usec 2500000\n");
  root.write("sys/fs/cgroup/slice/service/cpu.stat", "throttled_usec 0\n");
  EXPECT_EQ(cgroup_throttled(root.path()), 2.5);
}

TEST(Machine, ReportsTightestThreadLimit) {
  const PretendRoot root;
  root.write("proc/sys/kernel/threads-max", "5000\n");
  root.write("proc/sys/kernel/pid_max", "32768\n");
  root.write("proc/self/cgroup", "0::/a/b\n");
  root.write("sys/fs/cgroup/a/b/pids.max", "max\n");
  ASSERT_TRUE(thread_limit(root.path()));
  EXPECT_LE(thread_limit(root.path())->threads, 5000);  // a user's may be lower here
  root.write("sys/fs/cgroup/a/pids.max", "64\n");
  root.write("sys/fs/cgroup/a/pids.current", "54\n");
  EXPECT_EQ(thread_limit(root.path())->threads, 10);
  EXPECT_EQ(thread_limit(root.path())->set_by, "pids.max of the cgroup");
}

TEST(Machine, ReportsFreeMemoryWithinTightestLimit) {
  const PretendRoot root;
  EXPECT_EQ(free_memory(root.path()), std::nullopt);
  root.write("proc/meminfo", "MemTotal: 4000000 kB\nMemAvailable:    3000000 kB\n");
  EXPECT_EQ(free_memory(root.path()), Bytes{3'000'000} * 1024);
  root.write("proc/self/cgroup", "0::/a/b\n");
  root.write("sys/fs/cgroup/a/memory.max", "1000000000\n");
  root.write("sys/fs/cgroup/a/memory.current", "900000000\n");
  EXPECT_EQ(free_memory(root.path()), 100'000'000);
  root.write("sys/fs/cgroup/a/memory.stat", "active_file 7\ninactive_file 50000000\n");
  EXPECT_EQ(free_memory(root.path()), 150'000'000);
  root.write("sys/fs/cgroup/a/b/memory.max", "1000\n");
  root.write("sys/fs/cgroup/a/b/memory.current", "2000\n");
  EXPECT_EQ(free_memory(root.path()), 0);
}

TEST(Machine, ListsGpusThatDriverNames) {
  const PretendRoot root;
  MachineFacts machine;
  read_gpus(root.path(), machine);
  EXPECT_EQ(machine.gpus, std::nullopt);
  EXPECT_EQ(machine.gpu_driver, std::nullopt);
  const std::string gpus = "proc/driver/nvidia/gpus/";
  root.write(gpus + "0000:01:00.0/information", "Model: \t\t NVIDIA H100 PCIe\nIRQ: 7\n");
  root.write(gpus + "0000:02:00.0/information", "Model: \t\t NVIDIA H100 PCIe\nIRQ: 8\n");
  root.write(gpus + "0000:03:00.0/information", "Model: \t\t NVIDIA T4\n");
  root.write(gpus + "0000:04:00.0/information", "");
  root.write("sys/module/nvidia/version", "535.104.05\n");
  read_gpus(root.path(), machine);
  EXPECT_EQ(machine.gpus, "2 x NVIDIA H100 PCIe, NVIDIA T4");
  EXPECT_EQ(machine.gpu_driver, "535.104.05");
}

TEST(Machine, DetectsAcceleratorByDeviceFile) {
  const PretendRoot root;
  EXPECT_FALSE(may_have_accelerator(root.path()));
  root.write("dev/kfd", "");
  EXPECT_TRUE(may_have_accelerator(root.path()));
}

}  // namespace
}  // namespace loaderscope
