// The storage of a loader: what it holds of a sample, and how reads share it.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/pipeline/execution.h"
#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/run_config.h"

namespace loaderscope {

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
  Bytes stored_bytes(const Execution& of_sample) const;

 private:
  const RunConfig& config_;
  const FittedCosts* fitted_;
  std::optional<FittedCosts::Requests> declared_requests_;
  bool is_constant_;  // all samples have `constant_bytes_`
  Bytes constant_bytes_;
};

}  // namespace loaderscope
