// Modelled runs, and changes that turn such a run into one of a foreign loader, whose data set does
// all work by itself.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/model_engine.h"
#include "loaderscope/run_record.h"
#include "loaderscope/settings.h"

namespace loaderscope::test {

// Scenario lines, on a machine with 16 cores.
inline RunRecord run(std::string_view scenario) {
  RunConfig config;
  parse_scenario("engine = model\nwarmup = 32\n" + std::string(scenario), "test", config);
  std::vector<std::string> notes;
  RunRecord record = run_model(resolve_to_predict(config, MachineLimits{16}, notes), {});
  record.machine.logical_cpus = 16;
  return record;
}

// Turns decoding into `opaque` and drops the declared costs.
inline void make_users_code(RunRecord& record) {
  constexpr std::size_t kDecode = 2, kOpaque = 4;  // indices into a sample's parts
  record.engine = record.config.engine.value = "torch";
  record.config.declared.cost = {};
  record.config.loader.memory = MemoryMode::pageable;
  for (RankRecord& rank : record.ranks) {
    StepRows rows;
    rank.rows.for_each([&](StepRow row) {
      std::swap(row.stall[Cause::decode], row.stall[Cause::opaque]);
      rows.push_back(row);
    });
    rank.rows = std::move(rows);
    std::swap(rank.stages[Stage::decode], rank.stages[Stage::opaque]);
    for (SampleRow& sample : rank.reservoir)
      std::swap(sample.parts.at(kDecode), sample.parts.at(kOpaque));
  }
}

// Merges the samples of each batch, as for a data set that gives whole batches. Requires a record
// with all of its samples.
inline void make_batches_whole(RunRecord& record) {
  make_users_code(record);
  for (RankRecord& rank : record.ranks) {
    std::map<std::int64_t, SampleRow> batches;
    for (const SampleRow& sample : rank.reservoir) {
      SampleRow& batch = batches[sample.batch];
      for (std::size_t i = 0; i < sample.parts.size(); ++i) {
        batch.parts.at(i).wall += sample.parts.at(i).wall;
        batch.parts.at(i).cpu += sample.parts.at(i).cpu;
        batch.parts.at(i).queued += sample.parts.at(i).queued;
      }
      --batch.sample;
      batch.batch = sample.batch;
      batch.worker = sample.worker;
      batch.epoch = sample.epoch;
      batch.bytes += sample.bytes;
    }
    rank.reservoir.clear();
    for (const auto& [index, batch] : batches) rank.reservoir.push_back(batch);
    rank.reservoir_seen = static_cast<std::int64_t>(rank.reservoir.size());
  }
}

// Keeps the totals of the stages and drops all samples.
inline void forget_samples(RunRecord& record) {
  make_users_code(record);
  for (RankRecord& rank : record.ranks) rank.reservoir.clear();
}

}  // namespace loaderscope::test
