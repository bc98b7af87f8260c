// Speed of virtual time. The promise: at least 5 million stage events a second on one
// core, and a million batches of 4,096 workers in under a minute.
#include <benchmark/benchmark.h>

#include <string>

#include "engine/model/model_engine.h"
#include "loaderscope/settings.h"

namespace loaderscope {
namespace {

RunConfig parse_config(const std::string& lines) {
  RunConfig config;
  parse_scenario(lines, "bench", config);
  std::vector<std::string> notes;
  return resolve(config, MachineLimits{1024}, notes);
}

// Executions of stages, warm-up included.
std::int64_t stage_events(const RunRecord& record) {
  std::int64_t events = 0;
  for (const RankRecord& rank : record.ranks) {
    for (const StageStats& stage : rank.stages) events += stage.count;
  }
  return events;
}

void run_all(benchmark::State& state, const std::string& lines) {
  const RunConfig config = parse_config(lines);
  std::int64_t events = 0, batches = 0;
  for (auto _ : state) {
    const RunRecord record = run_model(config, {});
    events += stage_events(record);
    for (const RankRecord& rank : record.ranks) batches += rank.steps();
  }
  state.counters["stage_events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  state.counters["batches"] =
      benchmark::Counter(static_cast<double>(batches), benchmark::Counter::kIsRate);
}

const std::string kSamples =
    "num-workers = 8\nbatch-size = 64\nwarmup = 0\nsteps = 4000\ncompute = 20ms\n";

void BM_Sleeping(benchmark::State& state) {
  run_all(state, kSamples + "cost = read=1ms\ncost = decode=2ms:sleep\ncost = augment=1ms:sleep\n");
}
BENCHMARK(BM_Sleeping)->Unit(benchmark::kMillisecond);

void BM_SleepingAtRandom(benchmark::State& state) {
  run_all(state, kSamples +
                     "cost = read=exponential:1ms\ncost = decode=lognormal:2ms:0.5:sleep\n"
                     "cost = augment=uniform:500us:1500us:sleep\n");
}
BENCHMARK(BM_SleepingAtRandom)->Unit(benchmark::kMillisecond);

void BM_SharedCores(benchmark::State& state) {
  run_all(state, kSamples + "cores = 4\ncost = read=1ms\ncost = decode=2ms\ncost = augment=1ms\n");
}
BENCHMARK(BM_SharedCores)->Unit(benchmark::kMillisecond);

void BM_SharedCoresAtRandom(benchmark::State& state) {
  run_all(state, kSamples +
                     "cores = 4\ncost = read=exponential:1ms\ncost = decode=lognormal:2ms:0.5\n"
                     "cost = augment=uniform:500us:1500us\n");
}
BENCHMARK(BM_SharedCoresAtRandom)->Unit(benchmark::kMillisecond);

void BM_SampleTasks(benchmark::State& state) {
  run_all(state,
          kSamples +
              "task = sample\nwindow = 4\ncost = read=1ms\ncost = decode=lognormal:2ms:0.5:sleep\n"
              "cost = augment=1ms:sleep\n");
}
BENCHMARK(BM_SampleTasks)->Unit(benchmark::kMillisecond);

// Costs of batches only. What a batch costs should grow no faster than the logarithm of the
// workers.
std::string batch_lines(std::int64_t workers, std::int64_t steps) {
  return "num-workers = " + std::to_string(workers) +
         "\nbatch-size = 64\nwarmup = 0\nsteps = " + std::to_string(steps) +
         "\ncompute = 1ms\ncost = collate=uniform:1s:2s:sleep\n";
}

void BM_ManyWorkers(benchmark::State& state) {
  run_all(state, batch_lines(state.range(0), 100'000));
}
BENCHMARK(BM_ManyWorkers)->RangeMultiplier(4)->Range(16, 4096)->Unit(benchmark::kMillisecond);

void BM_ManyWorkersSharedCores(benchmark::State& state) {
  run_all(state, batch_lines(state.range(0), 100'000) + "cores = 64\ncost = decode=1ms\n");
}
BENCHMARK(BM_ManyWorkersSharedCores)
    ->RangeMultiplier(16)
    ->Range(16, 4096)
    ->Unit(benchmark::kMillisecond);

void BM_AMillionBatchesOf4096Workers(benchmark::State& state) {
  run_all(state, batch_lines(4096, 1'000'000));
}
BENCHMARK(BM_AMillionBatchesOf4096Workers)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace loaderscope
