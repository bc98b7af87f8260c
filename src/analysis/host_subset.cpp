#include "analysis/host_subset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "analysis/wording.h"
#include "loaderscope/errors.h"
#include "record/merge_records.h"

namespace loaderscope {
namespace {

RankRecord copy_rank(const RankRecord& rank) {
  RankRecord copy;
  copy.first_ask = rank.first_ask;
  copy.window_begin = rank.window_begin;
  copy.window_end = rank.window_end;
  rank.rows.for_each([&](const StepRow& row) { copy.rows.push_back(row); });
  copy.warmup_steps = rank.warmup_steps;
  copy.samples = rank.samples;
  copy.read_bytes = rank.read_bytes;
  copy.delivered_bytes = rank.delivered_bytes;
  copy.work = rank.work;
  copy.stages = rank.stages;
  copy.critical_path = rank.critical_path;
  copy.reservoir = rank.reservoir;
  copy.reservoir_seen = rank.reservoir_seen;
  copy.queues = rank.queues;
  return copy;
}

// In its text too, by which results keep it.
void set_rank(Injection& injection, std::int64_t rank) {
  constexpr std::string_view kOption = "@rank=";
  injection.rank = rank;
  const std::size_t at = injection.text.find(kOption);
  if (at == injection.text.npos) return;
  const std::size_t begin = at + kOption.size();
  const std::size_t end = std::min(injection.text.find('@', begin), injection.text.size());
  injection.text.replace(begin, end - begin, std::to_string(rank));
}

HostRecord copy_rank(const HostRecord& host) {
  HostRecord copy = host;
  copy.ended_early.clear();
  return copy;
}

// Returns the first rank of each host, followed by the number of ranks.
std::vector<std::size_t> first_ranks(const RunRecord& job) {
  std::vector<std::size_t> first = {0};
  for (const HostRecord& host : job.hosts)
    first.push_back(first.back() + static_cast<std::size_t>(host.ranks));
  return first;
}

}  // namespace

RunRecord part_on_hosts(const RunRecord& job, const std::vector<std::size_t>& hosts) {
  RunRecord part;
  part.engine = job.engine;
  part.simulated = job.simulated;
  part.tool_version = job.tool_version;
  part.machine = job.hosts.at(hosts.front()).machine;
  part.config = job.config;
  part.before_first_ask = job.before_first_ask;
  part.program = job.program;
  part.loaders = job.loaders;
  part.contention_known = job.contention_known;
  part.details = job.details;
  const std::vector<std::size_t> first = first_ranks(job);
  std::vector<std::int64_t> numbers;
  for (const std::size_t host : hosts) {
    part.hosts.push_back(copy_rank(job.hosts[host]));
    for (std::size_t rank = first[host]; rank < first[host + 1]; ++rank) {
      part.ranks.push_back(copy_rank(job.ranks.at(rank)));
      numbers.push_back(static_cast<std::int64_t>(rank));
    }
  }
  part.metrics = metrics_of_hosts(part.hosts);
  part.config.trainer.ranks.value = std::ssize(part.ranks);
  if (part.ranks.size() == 1) part.config.trainer.sync_ranks = {};
  if (const double cores = part.machine.cores; cores > 0 && !part.config.declared.cores.given)
    part.config.declared.cores.value = cores;
  renumber_injections(part.config, numbers);
  if (part.hosts.size() == 1) part.hosts.clear();
  return part;
}

void require_complete_job(const RunRecord& record, const std::string& place) {
  const double missing = value_of(record.metrics, metric::rendezvous_missing_processes).value_or(0);
  if (missing <= 0) return;
  throw UsageError(
      fmt::format(
          "{}: the run lost {} of its job, and how long the others waited for that is not known",
          place, plural(std::llround(missing), "process")),
      "run the job to its end, or one host by itself");
}

void renumber_injections(RunConfig& config, const std::vector<std::int64_t>& ranks) {
  auto& injections = config.declared.inject.value;
  std::erase_if(injections, [&](Injection& one) {
    if (!one.rank) return false;
    const auto found = std::find(ranks.begin(), ranks.end(), *one.rank);
    if (found == ranks.end()) return true;
    set_rank(one, found - ranks.begin());
    return false;
  });
}

}  // namespace loaderscope
