// Models of the resources that workers share: links, cores and the storage.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/pipeline/fitted_costs.h"
#include "engine/pipeline/stage_plan.h"
#include "loaderscope/run_config.h"

namespace loaderscope {

// The link between the host's memory and the device.
struct LinkModel {
  // `copy`: the stage that uses the link.
  LinkModel(const RunConfig& config, const Knockouts& knockouts, const StagePlan& copy);

  double rate = 0;                  // bytes per second; 0: copies take no time
  bool copy_keeps_trainer = false;  // pageable: the trainer's thread copies
  bool copy_uses_cpu = false;
};

// The cores of each host, and the threads that compete for them.
struct CoreModel {
  // `fitted` may be null. `has_device`: the compute of a step has a device.
  CoreModel(const RunConfig& config, const FittedCosts* fitted, bool has_device);

  std::vector<double> per_host;
  double other_threads = 0;       // threads of other processes, which take their share of the cores
  double making_threads = 1;      // the most of one worker
  double compute_threads = 0;     // cores that a step's compute takes; 0: a device's own time
  bool decodes_remotely = false;  // samples are decoded on hosts without ranks
  // Never more runnable threads than cores: no thread waits for one. The plan knows its threads and
  // sets this.
  bool exclusive = false;
};

// The storage of a loader: what it holds of a sample, and how reads share it.
class StorageModel {
 public:
  // `config` and `fitted`, which may be null, outlive the model. `readers` make reads at the same
  // time, on all ranks.
  StorageModel(const RunConfig& config, const FittedCosts* fitted, const Knockouts& knockouts,
               double readers);

  bool serves_reads = false;  // reads take its time, instead of a cost
  bool shared = false;        // reads compete for bandwidth or for places
  double streams = 1;         // transfers at the same time that do not slow each other
  Nanos latency = 0;
  double bandwidth = 0;          // bytes per second; 0: transfers take no time
  std::int64_t concurrency = 0;  // reads that it serves at the same time; 0: all

  // True if a storage is declared, also if workers make its reads ahead.
  bool is_declared() const { return serves_reads || declared_requests_; }
  // Returns the costs of reads that are made ahead. Null: each read takes its own time.
  const FittedCosts::Requests* requests() const {
    if (declared_requests_) return &*declared_requests_;
    return fitted_ != nullptr && fitted_->requests && !serves_reads ? &*fitted_->requests : nullptr;
  }
  Bytes stored_bytes(const Execution& execution) const;

 private:
  const RunConfig& config_;
  const FittedCosts* fitted_;
  std::optional<FittedCosts::Requests> declared_requests_;
  bool is_constant_;  // all samples have `constant_bytes_`
  Bytes constant_bytes_;
};

}  // namespace loaderscope
