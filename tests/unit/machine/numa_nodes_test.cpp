#include "machine/topology.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "unit/machine/pretend_root.h"

namespace loaderscope {
namespace {

TEST(NumaNodes, CountsNodesOfAllowedCpus) {
  const test::PretendRoot root;
  root.write("sys/devices/system/node/node0/cpulist", "0-3,8-11\n");
  root.write("sys/devices/system/node/node1/cpulist", "4-7,12-15\n");
  root.write("sys/devices/system/node/node2/cpulist", "\n");  // memory alone
  root.write("sys/devices/system/node/possible", "0-2\n");
  root.write("proc/7/status", "Name:\tpython\nCpus_allowed:\tffff\nCpus_allowed_list:\t0-15\n");
  root.write("proc/8/status", "Cpus_allowed_list:\t4-7,12\n");
  EXPECT_EQ(nodes_of_process(root.path(), 7), 2);
  EXPECT_EQ(nodes_of_process(root.path(), 8), 1);
  EXPECT_EQ(nodes_of_process(root.path(), 9), 0);  // process 9 has ended
}

TEST(NumaNodes, FindsNodeOfThisProcess) {
  if (!std::filesystem::exists("/sys/devices/system/node/node0/cpulist"))
    GTEST_SKIP() << "the kernel knows no nodes";
  EXPECT_GE(nodes_of_process("/", ::getpid()), 1);
}

}  // namespace
}  // namespace loaderscope
