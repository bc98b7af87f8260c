// Resources that the ranks of a job share, and the amounts that they need.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/arithmetic.h"
#include "loaderscope/rows.h"
#include "loaderscope/run_record.h"
#include "predict/fitted_model.h"

namespace loaderscope {

// Needs of a sample of the resources that ranks share.
struct SampleNeeds {
  double stored_bytes = 0;
  double cpu_ns = 0;         // CPU time on its host: workers, feeders, pin thread and trainer
  double decode_cpu_ns = 0;  // part of `cpu_ns`
  // Time of one worker without contention, for the rank whose samples take longest.
  double worker_ns = 0;
};

// Returns the means over all samples of a run, except for `worker_ns`.
SampleNeeds needs_of_sample(const RunRecord& record);

// Hosts without GPUs that decode for all ranks.
struct DecodeHosts {
  std::int64_t count = 0, cores = 0;  // cores of each host
  double rate = 0;                    // bytes per second that each sends; 0: any
};

struct PlanRequest {
  std::int64_t ranks = 1;
  std::int64_t hosts = 0;  // 0: as many ranks per host as measured on one
  std::optional<SharedStorage> storage;
  std::optional<DecodeHosts> decode;
  Changes changes;                  // changes of the run, --step included
  std::optional<double> gpu_price;  // per hour

  // Returns the largest number of ranks on a host.
  std::int64_t ranks_of_host() const { return divide_up(ranks, hosts); }
};

// Returns `count` of the job's hosts. `apart`: see JobHosts.
JobHosts hosts_for(const PlanRequest& question, std::int64_t count, Nanos apart);

// A resource that ranks share, and the amount with which their GPUs never wait.
struct SharedResource {
  std::string name;  // name in shared_resources()
  double needed = 0, given = 0;
  // Number of ranks that need all of it. Empty if more ranks need no more of it.
  std::optional<double> full_at_ranks;

  double share() const { return given > 0 ? needed / given : 0; }
  // Returns true if there is too little of it, beyond the precision of a need.
  bool is_full() const { return needed > kAboutAll * given; }

 private:
  static constexpr double kAboutAll = 1.005;
};

struct SharedThingRow {
  Row row;
  std::string_view is;             // "the storage is", printed before its name
  std::string_view amount_suffix;  // " of storage", printed after an amount
  enum class Unit : std::uint8_t { bytes_per_s, cores, workers } unit;
  bool is_of_host;  // each host has its own, so more hosts need no more of it
};
std::span<const SharedThingRow> shared_resources();

// Needs of the job's loader, predicted by its model.
struct JobNeeds {
  SampleNeeds sample;
  double storage_rate = 0;   // see LoaderAlone
  double storage_bytes = 0;  // bytes of that storage per sample
};

// Returns the resources that let the job's GPUs compute all of the time, with steps of `step_ns`.
// `config`: settings of the job, in force.
std::vector<SharedResource> things_shared_by(const JobNeeds& needs, const PlanRequest& question,
                                             const RunConfig& config, double step_ns);
// Returns the question with twice the needed amount of each resource, so that the remaining GPU
// waits have another reason.
PlanRequest if_unlimited(PlanRequest question, const std::vector<SharedResource>& things);
// Returns the resource that grows with the ranks and is full with the fewest of them. If there is
// none, returns the resource of a host that is missing most. "": none is full.
std::string first_full(const std::vector<SharedResource>& things);

}  // namespace loaderscope
