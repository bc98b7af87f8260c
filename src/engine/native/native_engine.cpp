#include "engine/native/native_engine.h"

#include <memory>

#include "engine/native/job_runner.h"

namespace loaderscope {
namespace {

using native::JobRunner;


// What threads may still look at when one of them is stuck.
struct Run {
  explicit Run(const RunConfig& given) : config(given), plan(config) {}

  const RunConfig config;
  const Plan plan;
  std::unique_ptr<JobRunner> runner;
};

void refuse_what_only_the_model_has(const RunConfig& config) {
  for (const auto& [given, name] : {std::pair{config.storage_latency.given, "storage-latency"},
                                    {config.storage_bandwidth.given, "storage-bandwidth"},
                                    {config.storage_concurrency.given, "storage-concurrency"},
                                    {config.cores.given, "cores"},
                                    {config.core_scaling.given, "core-scaling"}}) {
    if (given) {
      throw UsageError("--" + std::string(name) +
                       ": only the model can change the machine; leave it out, or give --engine model");
    }
  }
}

}  // namespace

RunRecord run_native(const RunConfig& config, const EngineContext& context) {
  refuse_what_only_the_model_has(config);
  auto run = std::make_unique<Run>(config);
  run->runner = std::make_unique<JobRunner>(run->plan, context, native::declared_makers(run->plan), false);
  JobRunner& runner = *run->runner;
  try {
    runner.run();
  } catch (const native::NothingComes&) {
    // A thread that is stuck in the kernel cannot be ended: it keeps what it uses until the process ends.
    [[maybe_unused]] Run* kept = run.release();
    throw;
  }

  RunRecord record;
  record.engine = "native";
  record.simulated = config.device.value == "sim";
  record.config = config;
  record.interrupted = runner.interrupted();
  record.input_ended_in_warmup = runner.input_ended_in_warmup();
  record.ranks = runner.finish();
  record.lost_spans = runner.lost_spans();
  record.contention_known = RunQueueMeter().known();
  record.metrics = runner.process_metrics();
  if (const std::string fallback = runner.memory_fallback(); !fallback.empty()) record.notes.push_back(fallback);
  return record;
}

}  // namespace loaderscope
