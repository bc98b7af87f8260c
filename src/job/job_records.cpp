#include "job/job_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "analysis/host_subset.h"
#include "base/cpu_set.h"
#include "base/thread_meter.h"
#include "job/version_text.h"
#include "loaderscope/analysis.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "machine/cgroup.h"
#include "machine/proc_file.h"
#include "record/family_traits.h"
#include "record/merge_records.h"
#include "record/rank_waits.h"
#include "record/rows_of_ranks.h"
#include "report/results.h"
#include "report/schemas.h"
#include "settings/join_settings.h"

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

std::vector<ProcessPlaces> group_by_host(const ProcessesOfJob& processes, std::size_t count) {
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
    const UsableCpus usable = processes.process_cpus(process);
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

HostRecord join_host(std::vector<HostRecord> processes) {
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

constexpr std::size_t kMissingNamed = 16;  // processes

std::string settings_of_job(const RunConfig& config) {
  std::string text;
  for (const Field& field : fields()) {
    const bool is_own = is_of_each_host(field) && field.name != "ranks";
    if (is_own || field.name == "device" || !field.given(config)) continue;
    text += fmt::format("{} = {}\n", field.name, fmt::join(field.texts(config), " "));
  }
  return text + fmt::format("device = {}\n", config.trainer.device.value);  // resolved device
}

// Returns the id of the boot, which differs between machines with the same name.
std::string boot_of_kernel() {
  std::string boot = read_text("/proc/sys/kernel/random/boot_id");
  std::erase(boot, '\n');
  return boot;
}

// A list that workers are bound to leaves them no others.
UsableCpus cpus_of_workers(const RunConfig& config) {
  CpuSet cpus = allowed_cpus();
  if (const Bind& bind = config.loader.bind.value; bind.way == Bind::Way::list)
    std::erase_if(cpus, [&](int cpu) {
      return std::find(bind.cpus.begin(), bind.cpus.end(), cpu) == bind.cpus.end();
    });
  const CpuQuota quota = cgroup_quota("/").value_or(CpuQuota{});
  return {cpu_list_to_text(cpus), quota.cores, quota.group};
}

// Adds the drift of the host's clock. Returns its gain on the first host's clock in ns per ns.
double add_drift(Rendezvous& meeting, HostRecord& host) {
  if (meeting.is_first()) return 0;
  const ClockDifference before = meeting.clock();
  try {
    const ClockDifference after = meeting.compare_clocks();
    const Nanos drift = after.offset - before.offset, took = after.at - before.at;
    const double rate = took > 0 ? static_cast<double>(drift) / static_cast<double>(took) : 0;
    // Adds the drift to the error, because the time between the two comparisons is uncertain by it.
    host.clock_error = std::max(before.error, after.error) + std::abs(drift);
    host.metrics.push_back(make_metric(metric::clock_drift_s,
                                       "the clock has gained on the first host's during the run",
                                       seconds(drift)));
    host.metrics.push_back(
        make_metric(metric::clock_drift_rate, "that it gains in each second of it", rate));
    return rate;
  } catch (const RunError&) {
    return 0;  // the job has failed: it is not known
  }
}

// `there`, `missing`: numbers of processes. `each`: ranks of a process, of which all have as many
// where injections name them.
void say_missing(const std::vector<std::int64_t>& missing, const std::vector<std::int64_t>& there,
                 Rendezvous& meeting, std::int64_t each, RunRecord& job) {
  if (missing.empty()) return;
  std::vector<std::string> names;
  for (const std::int64_t process : missing)
    if (names.size() < kMissingNamed) names.push_back(meeting.name_of(process));
  const bool is_one = missing.size() == 1;
  job.notes.push_back(fmt::format(
      "{}{} {} not in this answer: {}why others waited for {} is not known", fmt::join(names, ", "),
      names.size() < missing.size() ? fmt::format(", and {} more", missing.size() - names.size())
                                    : "",
      is_one ? "is" : "are",
      there.back() < missing.front()
          ? ""
          : fmt::format("later ranks are numbered without {}, and ", is_one ? "its" : "theirs"),
      is_one ? "it" : "them"));
  std::vector<std::int64_t> ranks;
  for (const std::int64_t process : there)
    for (std::int64_t i = 0; i < each; ++i) ranks.push_back(process * each + i);
  renumber_injections(job.config, ranks);
}

}  // namespace

void join_hosts(const ProcessesOfJob& processes, RunRecord& job) {
  const std::vector<ProcessPlaces> hosts = group_by_host(processes, job.hosts.size());
  put_ranks_in_order(processes, hosts, job);
  std::vector<HostRecord> joined;
  for (const ProcessPlaces& host : hosts) {
    std::vector<HostRecord> host_processes;
    for (const std::size_t process : host) host_processes.push_back(std::move(job.hosts[process]));
    joined.push_back(join_host(std::move(host_processes)));
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

HelloMessage make_hello(const RunConfig& config, const MachineFacts& machine, std::int64_t ranks) {
  return {version_number(),        machine.host.value_or("a host without a name"),
          settings_of_job(config), ranks,
          boot_of_kernel(),        cpus_of_workers(config)};
}

void bring_onto_first_clock(Rendezvous& meeting, RunRecord& own, const std::string& failure) {
  HostRecord host;
  host.machine = own.machine;
  host.ranks = std::ssize(own.ranks);
  host.metrics = std::exchange(own.metrics, {});
  host.ended_early = own.interrupted && failure.empty() ? "interrupted" : failure;
  const ClockDifference before = meeting.clock();
  host.clock_offset = before.offset;
  host.clock_error = before.error;
  const ClockLine clock{before.offset, before.at, add_drift(meeting, host)};
  const Nanos now = monotonic_now();
  for (RankRecord& rank : own.ranks)
    shift_times(rank,
                -clock.offset_at(std::clamp(rank.window_begin, std::min(clock.at, now), now)));
  own.hosts.push_back(std::move(host));
}

void hand_over(Rendezvous& meeting, const RunRecord& own) {
  std::ostringstream out;
  write_json(out, make_result(own, analyse(own)));
  meeting.hand_over(out.str());
}

JobAnswer gather_records(Rendezvous& meeting, JobAnswer own,
                         const std::function<void(RunRecord&)>& book_waits,
                         const StopSignal* stop) {
  RecordMerge merge(join_settings, true);
  std::string failure = std::move(own.failure);
  const auto answer = own.record.config.answer;
  const std::int64_t own_ranks = std::ssize(own.record.ranks);
  merge.add(std::move(own.record), meeting.name_of(0));
  std::vector<std::int64_t> numbers = {0};
  std::vector<std::int64_t> missing;
  meeting.gather(
      [&](std::int64_t process, const std::string& bytes) {
        const std::string name = meeting.name_of(process);
        if (bytes.empty()) {
          missing.push_back(process);
          return;
        }
        try {
          merge.add(parse_result(bytes, name).record, name);
          numbers.push_back(process);
        } catch (const RunError& error) {
          missing.push_back(process);
          if (failure.empty()) failure = fmt::format("rendezvous: {}", error.what());
        }
      },
      stop);
  JobAnswer job{merge.take(), std::move(failure)};
  book_waits(job.record);
  say_missing(missing, numbers, meeting, own_ranks, job.record);
  join_hosts({[&](std::size_t one, std::size_t other) {
                return meeting.are_on_one_host(numbers[one], numbers[other]);
              },
              [&](std::size_t process) { return meeting.name_of(numbers[process]); },
              [&](std::size_t process) { return meeting.find_cpus(numbers[process]); }},
             job.record);
  if (!missing.empty())
    job.record.metrics.push_back(make_metric(metric::rendezvous_missing_processes,
                                             "processes of the job that are not in the answer",
                                             static_cast<double>(missing.size())));
  job.record.config.answer = answer;
  if (job.failure.empty()) job.failure = meeting.failure();
  job.record.interrupted |= !job.failure.empty() || !missing.empty();
  return job;
}

void book_waits_of_programs(RunRecord& job) {
  if (!is_guest_engine(job.engine) || !book_host_waits(job)) return;
  const bool have_met = std::all_of(job.hosts.begin(), job.hosts.end(),
                                    [](const HostRecord& host) { return host.has_clock(); });
  job.config.trainer.sync_ranks.value = true;
  job.notes.push_back(fmt::format(
      "the hosts end their steps together{}: what a rank waited in a step for the last one to "
      "begin is no compute, but what that one waited for{}",
      have_met ? "" : ", by which their clocks are compared", describe_unbooked_waits(job.ranks)));
}

}  // namespace loaderscope
