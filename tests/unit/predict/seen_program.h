#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/first_workers.h"
#include "engine/model/model_engine.h"
#include "loaderscope/settings.h"

namespace loaderscope {

// Runs a scenario in the model, in exact virtual time.
inline RunRecord modelled(const std::string& scenario, double cores = 64) {
  RunConfig config;
  parse_scenario("engine = model\n" + scenario, "test", config);
  std::vector<std::string> notes;
  return run_model(resolve_to_predict(config, MachineLimits{cores}, notes), {});
}

// Makes of a record of the model one that the guest could have written: nothing is declared, and
// the number of steps in flight is unknown.
inline RunRecord as_seen(RunRecord record) {
  record.engine = "torch";
  record.simulated = false;
  RunConfig& config = record.config;
  config.engine.value = "torch";
  config.program.command.set({"python", "train.py"});
  config.trainer.device.value = "script";
  config.declared.cost = {};
  config.declared.inject = {};
  config.trainer.in_flight = {};
  config.data.stored_bytes = {};
  return record;
}

// Declares the costs that the model assumes of first workers, for batches like those of `seen`.
inline std::string first_workers_costs(const RunRecord& seen) {
  const SentBatch batch = sent_batch(seen);
  const auto us = [&](Stage stage) {
    return std::to_string(brought_by_first_workers(stage, batch) / kMicrosecond) + "us\n";
  };
  return "cost = transport=" + us(Stage::transport) +
         "cost = transport.recv=" + us(Stage::transport_recv) + "inject = collate=+" +
         us(Stage::collate);
}

}  // namespace loaderscope
