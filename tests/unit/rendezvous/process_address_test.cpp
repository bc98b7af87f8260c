// The place of a process in its job.
#include "rendezvous/process_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "loaderscope/errors.h"
#include "rendezvous/rendezvous_methods.h"

namespace loaderscope {
namespace {

using Set = std::map<std::string, std::string>;

Variable make_variable(const Set& set) {
  return [set](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  };
}

TEST(JobPlaceTest, TakesLaunchersEnvironments) {
  const auto read = [](const Set& set) { return place_by_environment(make_variable(set)); };
  const ProcessAddress torch = read({{"RANK", "3"},
                                     {"WORLD_SIZE", "4"},
                                     {"MASTER_ADDR", "a"},
                                     {"MASTER_PORT", "123"},
                                     {"TORCHELASTIC_RUN_ID", "x"}});
  EXPECT_EQ(torch.number, 3);
  EXPECT_EQ(torch.processes, 4);
  EXPECT_EQ(torch.addresses.front(), "a");
  EXPECT_EQ(torch.port, 123);
  EXPECT_EQ(torch.job, "x ");
  const ProcessAddress slurm = read({{"SLURM_PROCID", "0"},
                                     {"SLURM_NTASKS", "2"},
                                     {"SLURM_STEP_NODELIST", "gpu[07-09,12]-ib,other"},
                                     {"SLURM_JOB_ID", "77"},
                                     {"SLURM_STEP_ID", "3"}});
  EXPECT_EQ(slurm.addresses.front(), "gpu07-ib");
  EXPECT_EQ(slurm.port, 29500);
  EXPECT_EQ(slurm.job, "77 3");
  try {
    read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_JOB_ID", "77"}});
    ADD_FAILURE() << "a batch script is a task";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("without SLURM_STEP_NODELIST"));
    EXPECT_THAT(error.what(), testing::HasSubstr("start it with srun"));
  }
  const ProcessAddress alone = read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}});
  EXPECT_EQ(alone.processes, 1);
  const ProcessAddress agent = read({{"RANK", "0"},
                                     {"WORLD_SIZE", "1"},
                                     {"MASTER_PORT", "123"},
                                     {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  EXPECT_EQ(agent.port, 124);
  EXPECT_THROW(read({}), UsageError);
  EXPECT_THROW(read({{"RANK", "4"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}}), UsageError);
  EXPECT_THROW(read({{"RANK", "0"}, {"WORLD_SIZE", "4"}}), UsageError);
  EXPECT_THROW(read({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), UsageError);
}

// A script of sbatch has SLURM_NTASKS, and is no task; torchrun starts programs of many kinds.
TEST(WaysTest, AcceptsOnlyLaunchersOfManyProcesses) {
  const auto way = [](const Set& set) { return std::string(way_of_launcher(make_variable(set))); };
  EXPECT_EQ(way({}), "off");
  EXPECT_EQ(way({{"OMPI_COMM_WORLD_SIZE", "4"}}), "mpi");
  EXPECT_EQ(way({{"PMI_SIZE", "4"}}), "mpi");
  EXPECT_EQ(way({{"OMPI_COMM_WORLD_SIZE", "1"}}), "off");
  EXPECT_EQ(way({{"SLURM_STEP_NUM_TASKS", "4"}, {"PMI_SIZE", "4"}}), "env");
  EXPECT_EQ(way({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}), "off");
  EXPECT_EQ(way({{"WORLD_SIZE", "4"}, {"RANK", "0"}}), "off");
}

TEST(OwnAddresses, EndsWithLoopbacks) {
  const std::vector<std::string> all = own_addresses();
  ASSERT_FALSE(all.empty());
  bool has_come = false;
  for (const std::string& address : all) {
    const bool is_loopback = address == "127.0.0.1" || address == "::1";
    EXPECT_FALSE(has_come && !is_loopback) << address;
    has_come |= is_loopback;
  }
}

}  // namespace
}  // namespace loaderscope
