// A record made by hand: a window of equal steps unless a test says otherwise.
#pragma once

#include <functional>
#include <initializer_list>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>

#include "loaderscope/run_record.h"
#include "report/results.h"
#include "report/writers.h"

namespace loaderscope::test {

inline constexpr Nanos kFirstAsk = 5'000'000'123;  // not 0, and no whole microsecond

// Times of one step.
struct StepPlan {
  Nanos compute = 25 * kMillisecond;
  PerCause<Nanos> stall{};
  PerWhy<Nanos> why{};
  std::int32_t epoch = 0;
};

inline StepPlan make_step_plan(Nanos compute,
                               std::initializer_list<std::pair<Cause, Nanos>> stall) {
  StepPlan plan;
  plan.compute = compute;
  for (const auto& [cause, ns] : stall) plan.stall[cause] = ns;
  return plan;
}

inline constexpr std::int32_t kSamplesPerStep = 16;

inline StepRow make_step_row(const StepPlan& plan, std::int64_t step, Nanos idle_begin,
                             bool warmup) {
  StepRow row;
  row.step = step;
  row.epoch = plan.epoch;
  row.worker = static_cast<std::int32_t>(step % 2);
  row.samples = kSamplesPerStep;
  row.warmup = warmup;
  row.stall = plan.stall;
  row.why = plan.why;
  row.idle_begin = idle_begin;
  row.ask = idle_begin;
  row.compute_begin = idle_begin + std::accumulate(plan.stall.begin(), plan.stall.end(), Nanos{0});
  row.compute_end = row.compute_begin + plan.compute;
  row.deliverable = row.take = row.copy_begin = row.copy_end = row.compute_begin;
  return row;
}

// A rank of `warmup` + `steps` steps; `plan` gets the index of the step, warm-up included.
inline RankRecord make_rank_record(std::int64_t warmup, std::int64_t steps,
                                   const std::function<StepPlan(std::int64_t)>& plan) {
  RankRecord rank;
  rank.first_ask = rank.window_begin = rank.window_end = kFirstAsk;
  rank.warmup_steps = warmup;
  for (std::int64_t i = 0; i < warmup + steps; ++i) {
    const StepRow row = make_step_row(plan(i), i, rank.window_end, i < warmup);
    rank.rows.push_back(row);
    rank.window_end = row.compute_end;
    if (i < warmup) rank.window_begin = row.compute_end;
  }
  rank.samples = steps * kSamplesPerStep;
  rank.read_bytes = rank.samples * 110'000;
  rank.delivered_bytes = rank.samples * 602'112;
  return rank;
}

// `steps` more, each as `plan` has it and then as `change` makes it.
inline void add_changed_steps(RankRecord& rank, std::int64_t steps,
                              const std::function<StepPlan(std::int64_t)>& plan,
                              const std::function<void(StepRow&)>& change) {
  const std::int64_t first = rank.rows.size();
  for (std::int64_t i = first; i < first + steps; ++i) {
    StepRow row = make_step_row(plan(i), i, rank.window_end, false);
    change(row);
    rank.rows.push_back(row);
    rank.window_end = row.compute_end;
  }
}

inline RunRecord make_run_record(std::int64_t warmup, std::int64_t steps,
                                 const std::function<StepPlan(std::int64_t)>& plan) {
  RunRecord record;
  record.engine = "model";
  record.simulated = true;
  record.tool_version = "0.1.0";
  record.machine = {"A \"CPU\"", "Debian 12", "6.1.0", 8, 4, Bytes{16} << 30};
  record.config.loader.num_workers.set(2);
  record.config.loader.batch_size.set(kSamplesPerStep);
  record.config.trainer.compute.set({{Distribution::Shape::constant, 25e6, 0}});
  record.config.declared.cores.value = 4;
  record.ranks.push_back(make_rank_record(warmup, steps, plan));
  return record;
}

// 40 steps of 100 ms after 4 of warm-up: 25 ms compute, 60 ms decode, 15 ms read.
inline StepPlan usual_step(std::int64_t) {
  StepPlan plan = make_step_plan(
      25 * kMillisecond, {{Cause::decode, 60 * kMillisecond}, {Cause::read, 15 * kMillisecond}});
  plan.why[Why::capacity] = 75 * kMillisecond;
  return plan;
}

inline RunRecord usual_record() { return make_run_record(4, 40, usual_step); }

// A case with a prediction, a case without one, and a case that did not run.
inline Proof full_proof() {
  Proof proof;
  proof.has_busy = true;
  proof.base.name = "base";
  proof.base.runs = {{160, 0.25}, {158, 0.2475}, {161, 0.2525}};
  ProofCase tried;
  tried.name = "decode knocked out";
  tried.knockouts = {Stage::decode};
  tried.runs = {{400, 0.625}, {398, 0.62}, {401, 0.63}};
  tried.predicted = ProofPrediction{{160, 0.25}, {400, 0.625}, 0.01};
  proof.cases.push_back(tried);
  tried.name = "a window 4 times as deep";
  tried.knockouts = {};
  tried.changes = {{"prefetch-factor", "8"}};
  tried.predicted.reset();
  proof.cases.push_back(tried);
  tried.missing = "the disk is full";
  tried.runs.clear();
  proof.cases.push_back(tried);
  return proof;
}

// The usual record with everything that a record may hold.
inline RunRecord full_record() {
  RunRecord record = usual_record();
  record.config.answer.json.set("out/r 50.json");
  record.config.data.samples.set(64'000);
  record.before_first_ask = {{"import", 1'500 * kMillisecond}, {"index", 20 * kMillisecond + 1}};
  record.metrics = {{"memory.pinned_bytes", "bytes", "page-locked host memory", 38'535'168},
                    {"memory.host_slots", "1", "host slots", 11}};
  record.details = {{"data.alike_seeds", "numpy"}, {"augment", "Crop (train.py:3)", 0.625}};
  record.notes = {"prefetch-factor has no effect"};
  RankRecord& rank = record.ranks.front();
  for (int i = 0; i < 640; ++i) {
    rank.stages[Stage::read].add(750'000, 0, 0, 110'000);
    rank.stages[Stage::decode].add(6 * kMillisecond, 5 * kMillisecond, 500'000, 110'000);
  }
  for (int i = 0; i < 40; ++i) rank.stages[Stage::compute].add(25 * kMillisecond, 0, 0, 0);
  rank.reservoir_seen = 640;
  SampleRow sample;
  sample.sample = 7;
  sample.batch = 5;
  sample.worker = 1;
  sample.bytes = 110'000;
  sample.parts[2] = {6 * kMillisecond, 5 * kMillisecond, 500'000};
  rank.reservoir.push_back(sample);
  sample.sample = -16;  // all of a batch
  rank.reservoir.push_back(sample);
  Exemplar exemplar;
  rank.rows.for_each([&](const StepRow& row) {
    if (row.step == 3) exemplar.row = row;
  });
  exemplar.events.step = 3;
  exemplar.events.batch = 3;
  exemplar.events.worker = 1;
  exemplar.events.samples = kSamplesPerStep;
  exemplar.events.warmup = true;
  exemplar.events.dispatched = exemplar.row.idle_begin - 7;
  exemplar.events.finished = exemplar.row.compute_begin;
  exemplar.events.compute = {exemplar.row.compute_begin, exemplar.row.compute_end, 0, 0};
  exemplar.events.read_bytes = 16 * 110'000;
  Span span;
  span.begin = exemplar.row.idle_begin;
  span.end = span.begin + 6 * kMillisecond;
  span.cpu = 5 * kMillisecond;
  span.batch = 3;
  span.sample = 48;
  span.stage = Stage::decode;
  exemplar.spans.emplace_back(1, span);
  rank.exemplars.push_back(exemplar);
  rank.queues.push_back({"ready", 4, 0.25, 2, 3 * kSecond, 0});
  return record;
}

// The usual record on two ranks; the second computes for 30 ms and the first waits for it.
inline RunRecord two_ranks() {
  RunRecord record = usual_record();
  record.config.trainer.ranks.set(2);
  record.config.trainer.sync_ranks.set(true);
  record.ranks.push_back(make_rank_record(4, 40, [](std::int64_t) {
    return make_step_plan(30 * kMillisecond,
                          {{Cause::decode, 60 * kMillisecond}, {Cause::read, 10 * kMillisecond}});
  }));
  RankRecord waiting = make_rank_record(4, 0, usual_step);
  add_changed_steps(waiting, 40, usual_step,
                    [](StepRow& row) { row.waiting_for_ranks = 5 * kMillisecond; });
  waiting.samples = record.ranks[0].samples;
  record.ranks[0] = std::move(waiting);
  return record;
}

// The analysis that `run --verbose` prints.
inline Analysis analysed(const RunRecord& record, std::optional<Proof> proof = full_proof()) {
  Analysis analysis = analyse(record);
  analysis.proof = std::move(proof);
  return analysis;
}

inline std::string table_text(const RunRecord& record, ReportStyle style = {},
                              const std::optional<Proof>& proof = {}) {
  std::ostringstream out;
  style.verbose = true;
  write_table(out, make_result(record, analysed(record, proof)), style);
  return out.str();
}

}  // namespace loaderscope::test
