#include "machine/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loaderscope/errors.h"
#include "unit/machine/machine_xml.h"

namespace loaderscope {
namespace {

using test::MachineXml;
using test::MadeMachine;
using Way = Bind::Way;

std::vector<CpuSet> worker_cpus(const std::vector<RankBinding>& ranks) {
  std::vector<CpuSet> workers;
  for (const RankBinding& rank : ranks)
    workers.insert(workers.end(), rank.workers.begin(), rank.workers.end());
  return workers;
}

class Binding : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = read_topology().unavailable; why.starts_with("built without"))
      GTEST_SKIP() << why;
  }
  static std::vector<RankBinding> plan(const MadeMachine& machine, const BindingRequest& request) {
    return plan_binding(topology_of_xml(MachineXml(machine).text()), request);
  }
  static std::string why_not(const MadeMachine& machine, const BindingRequest& request) {
    try {
      plan(machine, request);
    } catch (const RunError& error) {
      return error.what();
    }
    return "";
  }
};

// Sockets 0-3 and 4-7, siblings 8 above.
TEST_F(Binding, PlacesCompactWorkersOnNearCoresThenSiblings) {
  EXPECT_EQ(worker_cpus(plan({}, {.bind = {Way::compact, {}}, .workers = 10})),
            (std::vector<CpuSet>{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}}));
}

TEST_F(Binding, SpreadsWorkersOverNodesThenSiblings) {
  EXPECT_EQ(worker_cpus(plan({}, {.bind = {Way::spread, {}}, .workers = 9})),
            (std::vector<CpuSet>{{0}, {4}, {1}, {5}, {2}, {6}, {3}, {7}, {8}}));
}

TEST_F(Binding, SpreadsRemainingWorkersOverLargerNode) {
  EXPECT_EQ(worker_cpus(plan({.cores = {1, 3}, .threads = 1, .gpus = {0, 0}},
                             {.bind = {Way::spread, {}}, .workers = 5})),
            (std::vector<CpuSet>{{0}, {1}, {2}, {3}, {0}}));
}

TEST_F(Binding, PlacesRanksOnNodesOfTheirGpus) {
  const auto ranks =
      plan({}, {.bind = {Way::near_gpu, {}}, .ranks = 2, .workers = 3, .visible_gpus = "0,5"});
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0].workers, std::vector<CpuSet>(3, {0, 1, 2, 3, 8, 9, 10, 11}));
  EXPECT_EQ(ranks[1].all, (CpuSet{4, 5, 6, 7, 12, 13, 14, 15}));
}

TEST_F(Binding, StaysWithinWhatACgroupLeaves) {
  EXPECT_EQ(worker_cpus(
                plan({.allowed = 0x0103}, {.bind = {Way::compact, {}}, .ranks = 2, .workers = 2})),
            (std::vector<CpuSet>{{0}, {1}, {8}, {0}}));
  EXPECT_EQ(plan({.allowed = 0x0103}, {.bind = {Way::near_gpu, {}}}).front().all,
            (CpuSet{0, 1, 8}));
}

TEST_F(Binding, RejectsNearGpuWithoutUsableNode) {
  const BindingRequest far = {.bind = {Way::near_gpu, {}}, .visible_gpus = "4"};
  EXPECT_EQ(why_not({.allowed = 0x0103}, far),
            "bind = near-gpu: no CPU of NUMA node 1, where the GPU at 0000:11:00.0 is, may be "
            "used; give spread, compact or a list of CPUs");
  EXPECT_EQ(why_not({.says_where = false}, far),
            "bind = near-gpu: nothing says which NUMA node the GPU at 0000:11:00.0 is on; give "
            "spread, compact or a list of CPUs");
  EXPECT_EQ(why_not({.gpus = {0, 0}}, {.bind = {Way::near_gpu, {}}}),
            "bind = near-gpu: hwloc finds no GPU here; give spread, compact or a list of CPUs");
  for (const char* const visible : {"8", "GPU-1f2e", "0,", "-1", "0;1"}) {
    EXPECT_NE(why_not({}, {.bind = {Way::near_gpu, {}}, .visible_gpus = visible}), "") << visible;
  }
}

TEST(BindingToAList, TakesItsCpusInTurnWithoutATopology) {
  Topology topology;
  topology.cpus = {0, 1, 4};
  topology.unavailable = "nobody looked";
  const auto ranks =
      plan_binding(topology, {.bind = {Way::list, {1, 4}}, .ranks = 2, .workers = 3});
  EXPECT_EQ(worker_cpus(ranks), (std::vector<CpuSet>{{1}, {4}, {1}, {4}, {1}, {4}}));
  EXPECT_EQ(ranks[0].all, (CpuSet{1, 4}));
  EXPECT_EQ(describe_binding(ranks),
            "the workers of rank 0 run on CPUs 1,4, the workers of rank 1 run on CPUs 1,4");
  EXPECT_THROW(plan_binding(topology, {.bind = {Way::list, {1, 2}}}), RunError);
  EXPECT_THROW(plan_binding(topology, {.bind = {Way::compact, {}}}), RunError);
  EXPECT_TRUE(plan_binding(topology, {}).empty());
}

// --- Programs whose ranks and workers are not known ---

TEST_F(Binding, PlansCpuOrderOrRankSetsForProgram) {
  const Topology topology = topology_of_xml(MachineXml(MadeMachine{}).text());
  const ProgramBinding spread = plan_program_binding(topology, {Way::spread, {}}, "");
  EXPECT_EQ(spread.cpu_per_worker,
            (std::vector<int>{0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15}));
  const ProgramBinding near = plan_program_binding(topology, {Way::near_gpu, {}}, "5,0");
  EXPECT_EQ(near.rank_cpus,
            (std::vector<CpuSet>{{4, 5, 6, 7, 12, 13, 14, 15}, {0, 1, 2, 3, 8, 9, 10, 11}}));
  EXPECT_TRUE(near.cpu_per_worker.empty());
  EXPECT_EQ(plan_program_binding(topology, {Way::list, {9, 2}}, "").cpu_per_worker,
            (std::vector<int>{9, 2}));
  EXPECT_TRUE(plan_program_binding(topology, {}, "").empty());
  EXPECT_THROW(plan_program_binding(topology, {Way::list, {99}}, ""), RunError);
}

TEST_F(Binding, KeepsProgramsWithinCgroup) {
  const Topology topology = topology_of_xml(MachineXml({.allowed = 0x0103}).text());
  EXPECT_EQ(plan_program_binding(topology, {Way::compact, {}}, "").cpu_per_worker,
            (std::vector<int>{0, 1, 8}));
}

TEST(BindingOfAProgram, NamesTorchrunOptionForBinding) {
  using testing::ElementsAre;
  EXPECT_THAT(describe_binding(ProgramBinding{{3, 1}, {}}, {Way::list, {3, 1}}),
              ElementsAre("workers run on a CPU each, in this order: 3, 1"));
  EXPECT_THAT(describe_binding(ProgramBinding{{}, {{0, 1}, {2, 3}}}, {Way::near_gpu, {}}),
              ElementsAre("the workers of rank 0 run on CPUs 0-1, the workers of rank 1 run on "
                          "CPUs 2-3",
                          testing::HasSubstr("torchrun --numa-binding=node ...")));
  EXPECT_THAT(describe_binding(ProgramBinding{{0}, {}}, {Way::compact, {}}),
              ElementsAre(testing::_, testing::HasSubstr("--numa-binding=core-complex")));
  EXPECT_THAT(describe_binding(ProgramBinding{}, {}), ElementsAre());
}

}  // namespace
}  // namespace loaderscope
