#include "machine/topology.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "loaderscope/errors.h"
#include "unit/machine/machine_xml.h"

namespace loaderscope {
namespace {

using test::MachineXml;
using test::MadeMachine;

class TopologyXml : public testing::Test {
 protected:
  void SetUp() override {
    if (read_topology().unavailable.starts_with("built without"))
      GTEST_SKIP() << read_topology().unavailable;
  }
  static Topology make_topology(const MadeMachine& machine) {
    return topology_of_xml(MachineXml(machine).text());
  }
};

TEST_F(TopologyXml, SaysWhereCoresMemoryAndDevicesAre) {
  const Topology topology = make_topology({});
  EXPECT_EQ(topology.unavailable, "");
  EXPECT_FALSE(topology.is_this_machine);
  EXPECT_EQ(topology.sockets, 2);
  EXPECT_EQ(topology.cpus.size(), 16U);
  ASSERT_EQ(topology.cores.size(), 8U);
  EXPECT_EQ(topology.cores[5].cpus, (CpuSet{5, 13}));
  EXPECT_EQ(topology.cores[5].socket, 1);
  EXPECT_EQ(topology.cores[5].node, 1);
  EXPECT_NE(topology.cores[3].cache, topology.cores[4].cache);
  ASSERT_EQ(topology.nodes.size(), 2U);
  EXPECT_EQ(topology.nodes[1].cpus, (CpuSet{4, 5, 6, 7, 12, 13, 14, 15}));
  EXPECT_EQ(topology.nodes[1].memory, Bytes{16} << 30);
  ASSERT_NE(topology.gpu_at("0000:11:00.0"), nullptr);
  EXPECT_EQ(topology.gpu_at("0000:11:00.0")->node, 1);
  EXPECT_EQ(topology.gpu_at("0000:01:00.0")->near, (CpuSet{0, 1, 2, 3, 8, 9, 10, 11}));
  EXPECT_EQ(topology.gpu_at("0000:0e:00.0"), nullptr) << "a screen is no GPU";
}

TEST_F(TopologyXml, DrawsOneLinePerNode) {
  EXPECT_EQ(draw_topology(make_topology({})),
            "2 sockets, 8 usable cores of 2 threads, 2 last-level caches, 2 NUMA nodes\n"
            "node 0: 4 cores (CPUs 0-3,8-11), 17.2 GB; GPU 0-3, storage nvme0n1\n"
            "node 1: 4 cores (CPUs 4-7,12-15), 17.2 GB; GPU 4-7, storage nvme1n1\n");
}

// A cgroup leaves one core and one sibling of another of socket 0, and nothing of socket 1.
TEST_F(TopologyXml, HoldsOnlyWhatACgroupLeaves) {
  const Topology topology = make_topology({.allowed = 0x0103});
  EXPECT_EQ(topology.cpus, (CpuSet{0, 1, 8}));
  ASSERT_EQ(topology.cores.size(), 2U);
  EXPECT_EQ(topology.cores[1].cpus, CpuSet{1});
  ASSERT_NE(topology.gpu_at("0000:11:00.0"), nullptr);
  EXPECT_EQ(topology.gpu_at("0000:11:00.0")->node, 1) << "it is far, not gone";
  EXPECT_TRUE(topology.gpu_at("0000:11:00.0")->near.empty());
  EXPECT_EQ(draw_topology(topology),
            "2 sockets, 2 usable cores of 1 or 2 threads, 1 last-level cache, 2 NUMA nodes\n"
            "node 0: 2 cores (CPUs 0-1,8), 17.2 GB; GPU 0-3, storage nvme0n1\n"
            "node 1: no usable CPU, 17.2 GB; GPU 4-7, storage nvme1n1\n");
}

TEST_F(TopologyXml, AcceptsDevicesWithoutKnownNode) {
  const Topology topology = make_topology({.cores = {2, 2}, .threads = 1, .says_where = false});
  ASSERT_NE(topology.gpu_at("0000:01:00.0"), nullptr);
  EXPECT_EQ(topology.gpu_at("0000:01:00.0")->node, -1);
  EXPECT_TRUE(topology.gpu_at("0000:01:00.0")->near.empty());
  EXPECT_NE(draw_topology(topology).find("on no known node: GPU 0-7, storage nvme0n1"),
            std::string::npos);
}

TEST_F(TopologyXml, PlacesDevicesNearOnlyNode) {
  const Topology topology =
      make_topology({.cores = {2}, .threads = 1, .gpus = {1, 1}, .says_where = false});
  ASSERT_NE(topology.gpu_at("0000:01:00.0"), nullptr);
  EXPECT_EQ(topology.gpu_at("0000:01:00.0")->node, 0);
  EXPECT_EQ(topology.gpu_at("0000:01:00.0")->near, (CpuSet{0, 1}));
}

TEST_F(TopologyXml, RejectsInvalidXml) {
  for (const char* const text : {"", "<topology>", "no XML", "<?xml version=\"1.0\"?><a/>"})
    EXPECT_THROW(topology_of_xml(text), ValueError) << text;
}

TEST(Topology, ReadsUsableCpusOfThisMachine) {
  const Topology topology = read_topology();
  EXPECT_EQ(topology.cpus, allowed_cpus());
  if (!topology.unavailable.empty()) GTEST_SKIP() << topology.unavailable;
  CpuSet core_cpus;
  for (const Topology::Core& core : topology.cores)
    core_cpus.insert(core_cpus.end(), core.cpus.begin(), core.cpus.end());
  std::sort(core_cpus.begin(), core_cpus.end());
  EXPECT_EQ(core_cpus, topology.cpus);
}

}  // namespace
}  // namespace loaderscope
