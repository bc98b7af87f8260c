// Results of every kind except a run: one with all fields and one that is empty.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/model/model_engine.h"
#include "loaderscope/predict.h"
#include "predict/fitted_model.h"
#include "predict/job_plan.h"
#include "report/results.h"
#include "report/saved.h"
#include "unit/compare/sample_comparison.h"
#include "unit/experiment/model_context.h"

namespace loaderscope::test {

inline RunRecord modelled_run() {
  std::vector<std::string> notes;
  return run_engine(resolve(scenario("workers = 1\ncores = 4\ncompute = 1ms\ncost = decode=1ms\n"
                                     "batch = 2\nsteps = 50\ngpu-price = 2.5"),
                            {4}, notes),
                    {});
}

inline WhatIf sample_what_if() {
  const RunRecord record = modelled_run();
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  const FittedModel model(record);
  WhatIf answer;
  answer.changes = {{"num-workers", "2"}};
  const Prediction predicted = model.predict(answer.changes);
  answer.gain = 1.75;
  answer.fitted = what_if_case("fitted", model.fitted());
  answer.measured = what_if_case("measured", analysis);
  answer.predicted = what_if_case("predicted", predicted, analysis);
  answer.verified = what_if_case("verified", analysis);
  answer.fit = analysis.fit;
  answer.storage = {{"storage.latency", 6e-3, 5e-3, "s", "a meaning", "a basis"},
                    {"cache.hit-rate", std::nullopt, 0.5, "1", "a meaning", ""}};
  answer.gpu = GpuWork{1e-3, 0.1, 2, 8, 3, 16, 0.02, 900, "a basis"};
  answer.notes = {"a note"};
  return answer;
}

inline JobPlan sample_plan() {
  PlanRequest question;
  question.ranks = 12;
  question.storage = SharedStorage{1e6, kMillisecond};
  question.decode = DecodeHosts{2, 4, 1e9};
  question.changes = {{"num-workers", "2"}, {"samples", "1000"}};
  question.gpu_price = 2.5;
  return plan_job(modelled_run(), question);
}

inline Experiment sample_grid() {
  return plan(scenario("cost = decode=8ms\ncompute = 12ms\nbatch = 4\ncores = 4\nsamples = 1000\n"
                       "drop-last = true"),
              {"workers=0,2,3", "prefetch=1,2", "batch=4,2000"});
}

inline Experiment sample_sweep() {
  Experiment experiment = sample_grid();
  run_sweep(experiment, model_context(), {});
  experiment.notes = {"a note"};
  return experiment;
}

inline Experiment sample_formats() {
  Experiment experiment = sample_sweep();
  experiment.data = {{"photos", false, 1000, 72'000'000, kMillisecond},
                     {"tar:shards", true, 1000, 73'000'000, kMillisecond}};
  experiment.repacking = Repacking{100, kSecond, 10 * kSecond};
  return experiment;
}

inline selftest::Result sample_selftest() {
  RunConfig config;
  config.engine.set("model");
  selftest::World world;
  world.run = [](const RunConfig& settings) { return run_model(settings, {}); };
  world.now = [] { return Nanos{0}; };
  selftest::Result result =
      run_selftest(selftest::make_trials(config, MachineLimits{2}), {.rounds = 2}, world);
  result.notes = {"a note"};
  return result;
}

inline probe::LinkMatrix sample_link() {
  probe::LinkMatrix matrix;
  matrix.gpu = "NVIDIA H100";
  for (Bytes bytes = 64 << 10; bytes <= 64 << 20; bytes *= 4) {
    const auto size = static_cast<double>(bytes);
    matrix.bare.push_back({bytes, 1e9 + 800 * size});
    for (const MemoryMode memory : {MemoryMode::pageable, MemoryMode::pin_thread})
      for (const CopyMode copy : {CopyMode::sync, CopyMode::async})
        matrix.cells.push_back(
            {memory, copy, bytes, 5e9 + 100 * size, 5e9, 13e9 + 100 * size, "may not be locked"});
  }
  return matrix;
}

inline probe::Profile sample_profile() {
  probe::Profile profile;
  profile.host = "node";
  profile.cpu = "AMD EPYC";
  profile.logical_cpus = 8;
  profile.cores = 8;
  profile.probes = {{"decode", {}}, {"storage", {}}};
  probe::Outcome& outcome = profile.probes.front().second;
  outcome.answer = "8 cores decode 7,000 images/s";
  outcome.lines = {"decode: 1,000/s by one core"};
  for (const double at : {1.0, 2.0, 4.0, 8.0})
    outcome.figures.push_back({"together", "1/s", 900 * at, 0.01, "110 kB", "decoded", at});
  outcome.ceilings = {{.per_s = 7000, .per_core_s = 875}};
  outcome.facts = {{"kind", "NVMe"}};
  outcome.notes = {"a note"};
  profile.probes.back().second.why_not = "there is no data";
  judge_demand(profile, {100, 1 << 20, 64, 1});
  judge_against(profile, {profile, profile, profile});
  return profile;
}

inline watch::Watch sample_watch() {
  watch::Watch full;
  full.pid = 4711;
  full.program = "python train.py";
  full.watched_s = 10;
  full.processes.resize(3);
  for (watch::WatchedProcess& process : full.processes) {
    process.role = watch::Role::worker;
    process.name = "python";
    process.looks = 100;
  }
  full.processes[0].role = watch::Role::trainer;
  full.processes[0].growth_per_s = 1.5;
  full.processes[0].shares.waits = {0.2, 0.5, 0, 0, 0, 0.3, 0, 0};
  full.processes[1].shares.user = 0.9;
  full.processes[1].where = "read() of /data/7.jpg";
  full.workers_seen = 1;
  full.waits = {true, 0.5, 100, 0.02, 0.01, "the queue"};
  full.gpus = {{"GPU", 0.5, 1e9, 2e9, true}};
  full.machine.cores = 8;
  full.machine.others = {{"cc1plus", 1.5}};
  full.machine.quota = 2;
  full.hang_states = {"rank 0 stands", "standing for 12 s"};
  full.unseen = full.notes = {"this"};
  judge(full);
  return full;
}

inline dataset::DatasetInfo sample_info() {
  dataset::DatasetInfo info;
  info.path = "photos";
  info.images = 3;
  info.bytes = 300'000;
  info.pixels = 3 * 500 * 375;
  for (const std::int64_t value : {64, 500, 4000}) {
    info.widths.add(value);
    info.heights.add(value * 3 / 4);
    info.aspects.add(1333);
    info.qualities.add(87);
    info.stored_bytes.add(value * 200);
  }
  info.formats["jpeg"] = info.subsamplings["420"] = info.classes["cat"] = 3;
  info.shuffle = dataset::ShuffleQuality{2, 0.1, 0.05, 300, 400, 1 << 20};
  info.shuffle->rank = dataset::OrderMixing{0.2, 0.04};
  info.shuffle->epochs = dataset::OrderMixing{1, 0.05};
  info.name_damaged({"cat/cut.jpg", "ends early"});
  info.notes = {"a note"};
  return info;
}

template <class T>
SavedResult held(T value) {
  const auto result = std::make_shared<T>(std::move(value));
  return {result, make_result(*result, "1.0")};
}

inline std::vector<SavedResult> sample_results() {
  ExperimentContext stopped = model_context();
  stopped.stopped = [] { return true; };
  const dataset::DatasetInfo info = sample_info();
  return {held(sample_what_if()),
          held(WhatIf{}),
          held(sample_plan()),
          held(JobPlan{}),
          held(sample_grid()),
          held(sample_sweep()),
          held(sample_formats()),
          held(Experiment{}),
          held(tune(sample_grid(), model_context(), {})),
          held(tune(sample_grid(), stopped, {})),
          held(compare::test::slower_decode()),
          held(compare::Comparison{}),
          held(sample_selftest()),
          held(selftest::Result{}),
          held(sample_profile()),
          held(probe::Profile{}),
          held(sample_link()),
          held(probe::LinkMatrix{}),
          held(sample_watch()),
          held(watch::Watch{}),
          held(info),
          held(dataset::DatasetInfo{}),
          held(dataset::drift_between(info, info)),
          held(dataset::drift_between(dataset::DatasetInfo{}, info))};
}

}  // namespace loaderscope::test
