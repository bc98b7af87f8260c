// Which CPUs the workers of a job get, by --bind and by where cores and GPUs are. Nothing is bound
// here: base/cpu_set.h does that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/run_config.h"
#include "machine/topology.h"

namespace loaderscope {

struct RankBinding {
  std::vector<CpuSet> workers;  // by worker
  CpuSet all;                   // of any of them; the pin thread's, and where memory is allocated
};

struct BindingRequest {
  Bind bind;
  std::int64_t ranks = 1;
  std::int64_t workers = 1;         // of each rank
  std::string_view visible_gpus{};  // as CUDA_VISIBLE_DEVICES; "": all
};

// By rank; nothing where nothing is to be bound. Rank r has the r-th visible GPU, in the order of
// PCI addresses. Throws RunError where the topology does not tell what the request needs, or a
// listed CPU may not be used.
std::vector<RankBinding> plan_binding(const Topology& topology, const BindingRequest& request);

// One sentence for the record; "" of none.
std::string describe_binding(const std::vector<RankBinding>& binding);

// Of somebody else's program, whose ranks and workers are known when they start.
struct ProgramBinding {
  std::vector<int> in_turn;     // a CPU for each worker, rank after rank, and over again
  std::vector<CpuSet> by_rank;  // instead: those of all workers of a rank, and over again

  bool empty() const { return in_turn.empty() && by_rank.empty(); }
};

// As plan_binding().
ProgramBinding plan_program_binding(const Topology& topology, const Bind& bind,
                                    std::string_view visible_gpus);

// For the record, with what torchrun does likewise for the trainers, where it does; none of none.
std::vector<std::string> describe_binding(const ProgramBinding& binding, const Bind& bind);

// The topology of this machine, for binding. Throws RunError where a variable of hwloc's puts
// another one in its place.
Topology topology_to_bind_by();

}  // namespace loaderscope
