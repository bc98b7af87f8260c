// Chooses the CPUs of a job's workers, by --bind and by the places of cores and GPUs. It binds
// nothing: base/cpu_set.h does that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/run_config.h"
#include "machine/topology.h"

namespace loaderscope {

struct RankBinding {
  std::vector<CpuSet> workers;  // one entry per worker
  CpuSet all;                   // union of all workers; for the pin thread and the allocation of
                                // memory
};

struct BindingRequest {
  Bind bind;
  std::int64_t ranks = 1;
  std::int64_t workers = 1;         // workers of each rank
  std::string_view visible_gpus{};  // value like CUDA_VISIBLE_DEVICES; "": all
};

// Returns one entry per rank, or nothing if nothing must be bound. Rank r has the r-th visible GPU,
// in the order of PCI addresses. Throws RunError if the topology lacks facts that the request
// needs, or a listed CPU may not be used.
std::vector<RankBinding> plan_binding(const Topology& topology, const BindingRequest& request);

// One sentence for the record; "" of none.
std::string describe_binding(const std::vector<RankBinding>& binding);

// The binding of a third-party program, whose ranks and workers are known when they start.
struct ProgramBinding {
  std::vector<int> cpu_per_worker;  // a CPU for each worker, rank after rank, and over again
  std::vector<CpuSet> rank_cpus;    // instead: those of all workers of a rank, and over again

  bool empty() const { return cpu_per_worker.empty() && rank_cpus.empty(); }
};

// Same rules as plan_binding().
ProgramBinding plan_program_binding(const Topology& topology, const Bind& bind,
                                    std::string_view visible_gpus);

// Returns notes for the record. They include torchrun's own binding of the trainers, if it has one.
// Empty without any binding.
std::vector<std::string> describe_binding(const ProgramBinding& binding, const Bind& bind);

// The topology of this machine, for binding. Throws RunError where a variable of hwloc's puts
// another one in its place.
Topology topology_to_bind_by();

}  // namespace loaderscope
