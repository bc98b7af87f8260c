#include "machine/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

using Core = Topology::Core;
using Device = Topology::Device;

[[noreturn]] void fail(std::string_view bind, const std::string& why) {
  throw RunError(fmt::format("bind = {}: {}", bind, why));
}

void require_topology(const Topology& topology, std::string_view bind) {
  if (!topology.unavailable.empty())
    fail(bind, topology.unavailable + "; give a list of CPUs such as 0-3");
}

// First one CPU of each core, then the siblings.
CpuSet one_of_each_first(const std::vector<Core>& cores) {
  CpuSet cpus;
  for (std::size_t thread = 0, added = 1; added > 0; ++thread) {
    added = 0;
    for (const Core& core : cores) {
      if (thread >= core.cpus.size()) continue;
      cpus.push_back(core.cpus[thread]);
      ++added;
    }
  }
  return cpus;
}

std::vector<Core> near_each_other(std::vector<Core> cores) {
  const auto place = [](const Core& core) {
    return std::tuple(core.socket, core.node, core.cache, core.cpus.front());
  };
  std::sort(cores.begin(), cores.end(),
            [&](const Core& a, const Core& b) { return place(a) < place(b); });
  return cores;
}

// Alternates between nodes, and in each node between groups that share a cache.
std::vector<Core> far_from_each_other(const std::vector<Core>& cores) {
  std::map<std::pair<int, int>, std::size_t> cache_turns;  // cores that came before
  std::vector<std::pair<std::size_t, Core>> turns;
  for (const Core& core : near_each_other(cores))
    turns.emplace_back(cache_turns[{core.node, core.cache}]++, core);
  const auto has_lower_turn = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(turns.begin(), turns.end(), has_lower_turn);
  std::map<int, std::size_t> node_turns;
  for (auto& [turn, core] : turns) turn = node_turns[core.node]++;
  std::stable_sort(turns.begin(), turns.end(), has_lower_turn);
  std::vector<Core> ordered;
  for (auto& [turn, core] : turns) ordered.push_back(std::move(core));
  return ordered;
}

CpuSet check_list(const Topology& topology, const CpuSet& list) {
  const std::string text = cpu_list_to_text(list);
  for (const int cpu : list) {
    if (std::binary_search(topology.cpus.begin(), topology.cpus.end(), cpu)) continue;
    fail(text, fmt::format("CPU {} is not there or may not be used; of this machine {} may", cpu,
                           cpu_list_to_text(topology.cpus)));
  }
  return list;
}

// The GPUs that CUDA counts, or those of them that are visible.
std::vector<const Device*> list_gpus(const Topology& topology, std::string_view visible) {
  std::vector<const Device*> all, chosen;
  for (const Device& device : topology.devices) {
    if (device.kind == Topology::DeviceKind::gpu) all.push_back(&device);
  }
  if (visible.empty()) return all;
  for (bool more = true; more;) {
    const auto comma = visible.find(',');
    const std::string_view number = visible.substr(0, comma);
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    if (error != std::errc() || end != number.data() + number.size() || index >= all.size()) {
      fail("near-gpu",
           "CUDA_VISIBLE_DEVICES has more than numbers of GPUs that are there; give 0,1,...");
    }
    chosen.push_back(all[index]);
    more = comma != visible.npos;
    if (more) visible.remove_prefix(comma + 1);
  }
  return chosen;
}

const CpuSet& cpus_near(const std::vector<const Device*>& gpus, std::size_t rank) {
  constexpr const char* kInstead = "; give spread, compact or a list of CPUs";
  if (gpus.empty()) fail("near-gpu", std::string("hwloc finds no GPU here") + kInstead);
  const Device& gpu = *gpus[rank % gpus.size()];
  if (!gpu.near.empty()) return gpu.near;
  if (gpu.node < 0) {
    fail("near-gpu",
         "nothing says which NUMA node the GPU at " + gpu.address + " is on" + kInstead);
  }
  fail("near-gpu", fmt::format("no CPU of NUMA node {}, where the GPU at {} is, may be used{}",
                               gpu.node, gpu.address, kInstead));
}

void add(CpuSet& all, const CpuSet& more) {
  all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

// A CPU for each worker of all ranks, over again where there are not enough.
std::vector<RankBinding> bind_in_turn(const CpuSet& cpus, const BindingRequest& request) {
  std::vector<RankBinding> ranks(static_cast<std::size_t>(request.ranks));
  std::size_t next = 0;
  for (RankBinding& rank : ranks) {
    for (std::int64_t worker = 0; worker < request.workers; ++worker) {
      rank.workers.push_back({cpus[next++ % cpus.size()]});
      rank.all.push_back(rank.workers.back().front());
    }
    add(rank.all, {});
  }
  return ranks;
}

std::vector<RankBinding> near_gpus(const Topology& topology, const BindingRequest& request) {
  const std::vector<const Device*> gpus = list_gpus(topology, request.visible_gpus);
  std::vector<RankBinding> ranks(static_cast<std::size_t>(request.ranks));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    ranks[rank].all = cpus_near(gpus, rank);
    ranks[rank].workers.assign(static_cast<std::size_t>(request.workers), ranks[rank].all);
  }
  return ranks;
}

}  // namespace

std::vector<RankBinding> plan_binding(const Topology& topology, const BindingRequest& request) {
  switch (request.bind.way) {
    case Bind::Way::none:
      return {};
    case Bind::Way::list:
      return bind_in_turn(check_list(topology, request.bind.cpus), request);
    case Bind::Way::compact:
      require_topology(topology, "compact");
      return bind_in_turn(one_of_each_first(near_each_other(topology.cores)), request);
    case Bind::Way::spread:
      require_topology(topology, "spread");
      return bind_in_turn(one_of_each_first(far_from_each_other(topology.cores)), request);
    case Bind::Way::near_gpu:
      require_topology(topology, "near-gpu");
      return near_gpus(topology, request);
  }
  return {};
}

std::string describe_binding(const std::vector<RankBinding>& binding) {
  constexpr std::size_t kNamed = 8;
  std::string text;
  for (std::size_t rank = 0; rank < std::min(binding.size(), kNamed); ++rank) {
    text += fmt::format("{}the workers of rank {} run on CPUs {}", rank == 0 ? "" : ", ", rank,
                        cpu_list_to_text(binding[rank].all));
  }
  if (binding.size() > kNamed) text += fmt::format(", and {} more ranks", binding.size() - kNamed);
  return text;
}

ProgramBinding plan_program_binding(const Topology& topology, const Bind& bind,
                                    std::string_view visible_gpus) {
  ProgramBinding binding;
  BindingRequest request{bind, 1, 1, visible_gpus};
  if (bind.way == Bind::Way::near_gpu) {
    require_topology(topology, "near-gpu");
    request.ranks = std::max<std::int64_t>(1, std::ssize(list_gpus(topology, visible_gpus)));
    for (RankBinding& rank : plan_binding(topology, request))
      binding.rank_cpus.push_back(std::move(rank.all));
    return binding;
  }
  request.workers = bind.way == Bind::Way::list ? std::ssize(bind.cpus) : std::ssize(topology.cpus);
  for (const RankBinding& rank : plan_binding(topology, request)) {
    for (const CpuSet& worker : rank.workers) binding.cpu_per_worker.push_back(worker.front());
  }
  return binding;
}

std::vector<std::string> describe_binding(const ProgramBinding& binding, const Bind& bind) {
  constexpr std::size_t kNamed = 16;
  std::vector<std::string> lines;
  if (!binding.cpu_per_worker.empty()) {
    std::string order;
    for (std::size_t i = 0; i < std::min(kNamed, binding.cpu_per_worker.size()); ++i)
      order += fmt::format("{}{}", i == 0 ? "" : ", ", binding.cpu_per_worker[i]);
    lines.push_back(fmt::format("workers run on a CPU each, in this order: {}{}", order,
                                binding.cpu_per_worker.size() > kNamed ? ", ..." : ""));
  }
  if (!binding.rank_cpus.empty()) {
    std::vector<RankBinding> ranks;
    for (const CpuSet& cpus : binding.rank_cpus) ranks.push_back({{}, cpus});
    lines.push_back(describe_binding(ranks));
  }
  const char* const alike = bind.way == Bind::Way::near_gpu  ? "node"
                            : bind.way == Bind::Way::compact ? "core-complex"
                                                             : nullptr;
  if (alike != nullptr)
    lines.push_back(fmt::format(
        "trainers are left where they are: torchrun --numa-binding={} ... binds them the same way "
        "(PyTorch 2.9 or later)",
        alike));
  return lines;
}

Topology topology_to_bind_by() {
  Topology topology = read_topology();
  if (topology.is_this_machine) return topology;
  throw RunError("bind: HWLOC_XMLFILE or HWLOC_SYNTHETIC puts another machine in place of this one",
                 "unset it, or give --bind none");
}

}  // namespace loaderscope
