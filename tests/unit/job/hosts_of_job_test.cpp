// Processes of a job as its hosts.
#include "job/job_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loaderscope/cost.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

struct Process {
  int host = 0;
  UsableCpus cpus;
  double cores = 1;
};

// One rank of each.
RunRecord joined(const std::vector<Process>& all) {
  RunRecord job;
  for (const Process& process : all) {
    HostRecord host;
    host.machine.cores = process.cores;
    host.ranks = 1;
    job.hosts.push_back(std::move(host));
    job.ranks.push_back(test::make_rank_record(4, 40, test::usual_step));
  }
  job.machine = job.hosts.front().machine;
  job.config.declared.cores.value = job.machine.cores;
  join_hosts({[&](std::size_t one, std::size_t other) { return all[one].host == all[other].host; },
              [](std::size_t process) { return "process " + std::to_string(process); },
              [&](std::size_t process) { return all[process].cpus; }},
             job);
  return job;
}

TEST(HostsOfJob, CountsCoresThatAnyProcessMayUse) {
  const RunRecord job = joined({{0, {"0-7", 0}, 8}, {0, {"8-15", 0}, 8}, {0, {"4-11", 0}, 8}});
  EXPECT_TRUE(job.hosts.empty());
  EXPECT_EQ(job.machine.cores, 16);
  EXPECT_EQ(job.config.declared.cores.value, 16);
}

TEST(HostsOfJob, AppliesQuotaToAllProcessesOfHost) {
  EXPECT_EQ(joined({{0, {"0", 1.5}}, {0, {"1", 1.5}}}).machine.cores, 1.5);
  EXPECT_EQ(joined({{0, {"0", 0}}, {0, {"1", 1.5}}}).machine.cores, 2);
}

// Containers that are given two cores each have four, and no more than there are.
TEST(HostsOfJob, AddsQuotasOfControlGroups) {
  const auto cores = [](const std::string& cpus) {
    return joined({{0, {cpus, 2, "25:70"}}, {0, {cpus, 2, "25:70"}}, {0, {cpus, 2, "25:91"}}})
        .machine.cores;
  };
  EXPECT_EQ(cores("0-7"), 4);
  EXPECT_EQ(cores("0-2"), 3);
}

TEST(HostsOfJob, CountsCoresOfEachHost) {
  const RunRecord job =
      joined({{0, {"0", 0}}, {0, {"1", 0}}, {1, {"0-3", 0}, 4}, {2, {"0", 0}}, {2, {"0-2", 0}, 3}});
  ASSERT_EQ(job.hosts.size(), 3u);
  EXPECT_EQ(job.hosts[0].machine.cores, 2);
  EXPECT_EQ(job.hosts[1].machine.cores, 4);
  EXPECT_EQ(job.hosts[2].machine.cores, 3);
  EXPECT_EQ(job.machine.cores, 2);
  EXPECT_EQ(job.config.declared.cores.value, 2);
}

TEST(HostsOfJob, UsesCoresOfFirstProcessIfCpusAreUnknown) {
  const RunRecord job = joined({{0, {"0-7", 0}, 8}, {0, {"", 0}, 8}});
  EXPECT_EQ(job.machine.cores, 8);
  EXPECT_EQ(job.config.declared.cores.value, 8);
}

TEST(HostsOfJob, MovesInjectionsWithTheirRanks) {
  const std::vector<int> host_numbers = {0, 1, 0, 1};
  RunRecord job;
  for (std::size_t i = 0; i < host_numbers.size(); ++i) {
    job.hosts.emplace_back().ranks = 1;
    job.ranks.push_back(test::make_rank_record(4, 40, test::usual_step));
  }
  for (const char* const text : {"decode=+4ms@rank=1@every=2", "decode=+5ms", "read=+1ms@rank=2"})
    job.config.declared.inject.value.push_back(parse_injection(text));
  join_hosts(
      {[&](std::size_t one, std::size_t other) { return host_numbers[one] == host_numbers[other]; },
       [](std::size_t process) { return "process " + std::to_string(process); },
       [](std::size_t) { return UsableCpus{}; }},
      job);
  std::vector<std::string> now;
  for (const Injection& one : job.config.declared.inject.value) now.push_back(one.text);
  EXPECT_THAT(
      now, testing::ElementsAre("decode=+4ms@rank=2@every=2", "decode=+5ms", "read=+1ms@rank=1"));
  EXPECT_EQ(job.config.declared.inject.value[0].rank, 2);
}

}  // namespace
}  // namespace loaderscope
