#include "job/hosts_of_job.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/host_subset.h"
#include "base/cpu_set.h"
#include "record/merge_records.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxNamed = 16;  // processes

using ProcessPlaces = std::vector<std::size_t>;  // places of processes in `hosts`

// Returns the name of this process in the kernel.
std::string own_name() {
  char name[16] = "";
  ::prctl(PR_GET_NAME, name);
  return name;
}

std::vector<ProcessPlaces> by_host(const ProcessesOfJob& processes, std::size_t count) {
  std::vector<ProcessPlaces> hosts;
  for (std::size_t place = 0; place < count; ++place) {
    const auto found = std::find_if(hosts.begin(), hosts.end(), [&](const ProcessPlaces& host) {
      return processes.are_on_one_host(host.front(), place);
    });
    if (found == hosts.end()) {
      hosts.push_back({place});
    } else {
      found->push_back(place);
    }
  }
  return hosts;
}

// Launchers that bind give each process CPUs of its own; a quota is of all in one control group,
// and those of several add up. Nothing: a process does not know its CPUs.
std::optional<double> cores_of_host(const ProcessesOfJob& processes, const ProcessPlaces& host) {
  std::set<int> all;
  std::map<std::string, double> quotas;
  bool is_limited = true;
  for (const std::size_t process : host) {
    const UsableCpus usable = processes.cpus_of(process);
    const CpuSet cpus = parse_cpu_list(usable.list);
    if (cpus.empty()) return std::nullopt;
    all.insert(cpus.begin(), cpus.end());
    double& quota = quotas[usable.group];
    quota = std::max(quota, usable.quota);
    is_limited = is_limited && usable.quota > 0;
  }
  const auto cores = static_cast<double>(all.size());
  double sum = 0;
  for (const auto& [group, quota] : quotas) sum += quota;
  return is_limited ? std::min(cores, sum) : cores;
}

HostRecord one_host_of(std::vector<HostRecord> processes) {
  HostRecord whole = processes.front();
  if (processes.size() > 1) whole.metrics = metrics_of_processes(processes);
  whole.ranks = 0;
  for (const HostRecord& process : processes) {
    whole.ranks += process.ranks;
    whole.clock_error = std::max(whole.clock_error, process.clock_error);
    if (whole.ended_early.empty()) whole.ended_early = process.ended_early;
  }
  return whole;
}

// Returns the current ranks of each process.
std::vector<ProcessPlaces> ranks_of_processes(const RunRecord& job) {
  std::vector<ProcessPlaces> ranks;
  std::size_t next = 0;
  for (const HostRecord& process : job.hosts) {
    ranks.emplace_back(static_cast<std::size_t>(process.ranks));
    std::iota(ranks.back().begin(), ranks.back().end(), next);
    next += ranks.back().size();
  }
  return ranks;
}

// "ranks follow each other host by host: rank 0 is that of process 0 on node0, 1 ..."
std::string order_words(const ProcessesOfJob& processes, const ProcessPlaces& order,
                        const std::vector<ProcessPlaces>& ranks) {
  std::string text =
      "the launcher distributed its processes over the hosts in alternation; here ranks are "
      "ordered host by host";
  std::size_t rank = 0;
  for (std::size_t i = 0; i < std::min(order.size(), kMaxNamed); ++i) {
    const std::size_t count = ranks[order[i]].size();
    text += fmt::format("{} {} of {}", i == 0 ? ":" : ",",
                        count == 1 ? fmt::format("rank {}", rank)
                                   : fmt::format("ranks {} to {}", rank, rank + count - 1),
                        processes.name_of(order[i]));
    rank += count;
  }
  return text + (order.size() > kMaxNamed ? ", and so on" : "");
}

void put_ranks_in_order(const ProcessesOfJob& processes, const std::vector<ProcessPlaces>& hosts,
                        RunRecord& job) {
  ProcessPlaces order;
  for (const ProcessPlaces& host : hosts) order.insert(order.end(), host.begin(), host.end());
  if (std::is_sorted(order.begin(), order.end())) return;
  const std::vector<ProcessPlaces> ranks = ranks_of_processes(job);
  std::vector<RankRecord> in_order;
  std::vector<std::int64_t> ranks_before;
  for (const std::size_t process : order) {
    for (const std::size_t rank : ranks[process]) {
      ranks_before.push_back(static_cast<std::int64_t>(rank));
      in_order.push_back(std::move(job.ranks[rank]));
    }
  }
  job.ranks = std::move(in_order);
  renumber_injections(job.config, ranks_before);
  job.notes.push_back(order_words(processes, order, ranks));
}

// Sets the cores of the first host, which is the job's own machine.
void use_cores(double cores, RunRecord& job) {
  job.machine.cores = cores;
  if (!job.config.declared.cores.given) job.config.declared.cores.value = cores;
}

}  // namespace

void join_hosts(const ProcessesOfJob& processes, RunRecord& job) {
  const std::vector<ProcessPlaces> hosts = by_host(processes, job.hosts.size());
  put_ranks_in_order(processes, hosts, job);
  std::vector<HostRecord> joined;
  for (const ProcessPlaces& host : hosts) {
    std::vector<HostRecord> of_host;
    for (const std::size_t process : host) of_host.push_back(std::move(job.hosts[process]));
    joined.push_back(one_host_of(std::move(of_host)));
    if (host.size() < 2) continue;
    const std::optional<double> cores = cores_of_host(processes, host);
    if (!cores) continue;
    joined.back().machine.cores = *cores;
    if (joined.size() == 1) use_cores(*cores, job);
  }
  const bool has_siblings = joined.size() < job.hosts.size();
  job.hosts = std::move(joined);
  if (has_siblings) {
    std::erase_if(job.details, [own = own_name()](const Detail& detail) {
      return detail.about == metric::host_other_cpu_s && detail.text == own;
    });
    job.metrics = metrics_of_hosts(job.hosts);
  }
  if (job.hosts.size() == 1) job.hosts.clear();
}

}  // namespace loaderscope
