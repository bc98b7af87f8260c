#include "engine/import/trace_record.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "engine/import/traced_rank.h"
#include "loaderscope/errors.h"
#include "record/recorder.h"

namespace loaderscope::traces {
namespace {

class RankTeller {
 public:
  RankTeller(Folder& folder, std::int32_t rank, const WalkedRank& walked, std::int64_t batch_size)
      : folder_(folder), rank_(rank), walked_(walked), batch_size_(batch_size) {}

  void write_all(Nanos zero) {
    if (walked_.walked.empty()) return;
    end_ = walked_.walked.front().step.at.begin - zero;
    folder_.first_ask(rank_, end_);
    for (const WalkedStep& step : walked_.walked) write_step(step);
  }

 private:
  void write_step(const WalkedStep& walked) {
    PerCause<Nanos> stall{};
    for (std::size_t k = 0; k < kGapKinds; ++k) {
      const GapRow& row = gap_table()[k];
      const bool is_known = walked_.has_loader || !row.may_be_loader;
      stall[is_known ? row.cause : Cause::other] += walked.parts.times.at(k);
    }
    const Nanos begin = end_;
    const Nanos made = begin + stall[Cause::opaque];
    StepEvents events;
    events.step = events.batch = next_++;
    events.samples = static_cast<std::int32_t>(batch_size_);
    events.dispatched = events.begun = events.ask = begin;
    events.finished = events.deliverable = events.take = made + stall[Cause::other];
    Nanos at = events.take;
    if (stall[Cause::h2d] > 0) events.copy = {at, at + stall[Cause::h2d], 0, 0};
    at += stall[Cause::h2d];
    if (stall[Cause::launch] > 0) events.launch = {at, at + stall[Cause::launch], 0, 0};
    at += stall[Cause::launch];
    end_ = begin + walked.step.at.length() - walked.parts.overhead;
    events.ready = at;
    events.compute = {at, end_, 0, 0};
    if (made > begin) folder_.span(rank_, 0, waiting(begin, made, events.batch));
    folder_.step(rank_, events);
  }

  static Span waiting(Nanos begin, Nanos end, std::int64_t batch) {
    Span span;
    span.begin = begin;
    span.end = end;
    span.batch = batch;
    span.stage = Stage::opaque;
    return span;
  }

  Folder& folder_;
  std::int32_t rank_;
  const WalkedRank& walked_;
  std::int64_t batch_size_;
  Nanos end_ = 0;
  std::int64_t next_ = 0;
};

// Records the steps of a traced rank as events of a third-party loader. A trace has many pieces of
// waiting per step. The account of a step has one idle time before its compute. The pieces are
// joined there, and all sums stay the same. `zero`: the origin of all times.
void write_steps(Folder& folder, std::int32_t rank, const WalkedRank& walked,
                 std::int64_t batch_size, Nanos zero) {
  RankTeller(folder, rank, walked, batch_size).write_all(zero);
}

// Removes the second label and the critical path. No trace shows whether a worker rested before it
// made a batch, or which other batches were in flight.
void forget_why(RankRecord& rank) {
  rank.critical_path.reset();
  std::vector<StepRow> row(1);
  for (std::int64_t at = 0; at < rank.rows.size(); ++at) {
    rank.rows.read(at, row);
    row.front().why = {};
    rank.rows.write(at, row);
  }
  for (Exemplar& exemplar : rank.exemplars) exemplar.row.why = {};
}

TimeRange run_extent(const TracedRun& run) {
  TimeRange all = {std::numeric_limits<Nanos>::max(), std::numeric_limits<Nanos>::min()};
  const auto add = [&](TimeRange at) {
    all = {std::min(all.begin, at.begin), std::max(all.end, at.end)};
  };
  for (const TracedProcess& process : run.processes)
    if (!process.is_empty()) add(process.extent());
  for (const TracedGpu& gpu : run.gpus_used)
    if (gpu.extent) add(*gpu.extent);
  return all;
}

std::vector<Place> rank_places(TracedRun& run) {
  std::vector<Place> places;
  for (TracedGpu& gpu : run.gpus_used) places.push_back({gpu.process, &gpu});
  for (std::size_t p = 0; places.empty() && p < run.processes.size(); ++p) places.push_back({p});
  return places;
}

void walk_ranks(WalkedRun& walked) {
  std::map<std::size_t, std::pair<HostView, TimeRange>> hosts;
  std::deque<GpuView> gpus;
  std::vector<RankView> views;
  for (const Place& place : walked.places) {
    TracedProcess& process = walked.run.processes[place.process];
    if (!hosts.contains(place.process)) {
      const TimeRange extent = process.extent();
      hosts.emplace(place.process, std::pair(HostView(process), extent));
    }
    views.push_back({nullptr, &hosts.at(place.process).first, nullptr});
    if (place.gpu == nullptr) continue;
    views.back().gpu = &gpus.emplace_back(*place.gpu);
    views.back().collectives = &place.gpu->collectives;
  }
  if (walked.has_gpu() && walked.run.is_one_host) walked.waits = waits_for_ranks(views);
  walked.waits.ranks.resize(views.size());
  for (std::size_t r = 0; r < views.size(); ++r) {
    const TracedGpu* gpu = walked.places[r].gpu;
    const TimeRange process_extent = hosts.at(walked.places[r].process).second;
    walked.ranks.push_back(
        walk(*views[r].host, walked.run.processes[walked.places[r].process].steps, views[r].gpu,
             walked.waits.ranks[r].for_loader,
             gpu != nullptr ? gpu->extent.value_or(process_extent) : process_extent));
  }
}

std::vector<RankRecord> folded(const WalkedRun& walked, std::int64_t batch_size, Nanos zero) {
  FoldOptions options;
  options.ranks = static_cast<std::int32_t>(walked.ranks.size());
  Folder folder(options);
  for (std::size_t r = 0; r < walked.ranks.size(); ++r)
    write_steps(folder, static_cast<std::int32_t>(r), walked.ranks[r], batch_size, zero);
  std::vector<RankRecord> ranks = folder.finish();
  for (RankRecord& rank : ranks) forget_why(rank);
  return ranks;
}

// Sets the settings that a trace contains.
void put_config(RunConfig& config, const WalkedRun& walked, std::int64_t batch_size) {
  config.engine.value = "import";
  config.trainer.device.value = walked.has_gpu() ? "cuda" : "script";
  config.trainer.ranks.value = std::ssize(walked.ranks);
  config.loader.batch_size.value = std::max<std::int64_t>(batch_size, 1);
  const std::optional<std::int64_t> workers = walked.run.processes.front().workers;
  config.loader.executor.value = workers == 0 ? Executor::inline_ : Executor::opaque;
  config.loader.num_workers.value = workers.value_or(1);
  config.measure.duration.value = 0;
  config.measure.warmup.value = {};
  Copied pageable, pinned;
  bool own_stream = false;
  for (const TracedGpu& gpu : walked.run.gpus_used) {
    pageable.bytes += gpu.from_pageable.bytes;
    pinned.bytes += gpu.from_pinned.bytes;
    own_stream |= gpu.copies_on_own_stream();
  }
  config.loader.memory.value =
      pageable.bytes > pinned.bytes ? MemoryMode::pageable : MemoryMode::pin_thread;
  config.trainer.copy.value = own_stream ? CopyMode::stream : CopyMode::async;
}

}  // namespace

RunRecord make_trace_record(TracedRun run, std::int64_t batch_size) {
  WalkedRun walked;
  walked.run = std::move(run);
  walked.places = rank_places(walked.run);
  const TimeRange all = run_extent(walked.run);
  constexpr Nanos kMaxLength = Nanos{1} << 59;
  if (all.length() > kMaxLength)
    throw RunError("the traces' times lie more than 18 years apart",
                   "give files of one run, as they were "
                   "recorded");
  for (TracedProcess& process : walked.run.processes)
    if (!process.origin) process.origin = all.begin;
  walk_ranks(walked);
  RunRecord record;
  record.ranks = folded(walked, batch_size, all.begin);
  put_config(record.config, walked, batch_size);
  record.metrics = make_metrics(walked);
  record.notes = make_notes(walked);
  record.engine = "import";
  record.contention_known = false;
  record.machine.host = walked.run.host;
  record.machine.gpus = walked.run.gpus;
  return record;
}

}  // namespace loaderscope::traces
