#include "engine/trace/trace_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "engine/trace/sampled_stacks.h"
#include "engine/trace/traced_rank.h"
#include "loaderscope/errors.h"
#include "record/recorder.h"

namespace loaderscope::traces {
namespace {

Stretch extent_of(const TracedRun& run) {
  Stretch all = {std::numeric_limits<Nanos>::max(), std::numeric_limits<Nanos>::min()};
  const auto add = [&](Stretch at) {
    all = {std::min(all.begin, at.begin), std::max(all.end, at.end)};
  };
  for (const TracedProcess& process : run.processes)
    if (!process.is_empty()) add(process.extent());
  for (const TracedGpu& gpu : run.gpus_used)
    if (gpu.extent) add(*gpu.extent);
  return all;
}

// A rank is a GPU that a process used; where no GPU was traced, a process.
struct Place {
  std::size_t process = 0;
  TracedGpu* gpu = nullptr;
};

std::vector<Place> places_of(TracedRun& run) {
  std::vector<Place> places;
  for (TracedGpu& gpu : run.gpus_used) places.push_back({gpu.process, &gpu});
  for (std::size_t p = 0; places.empty() && p < run.processes.size(); ++p) places.push_back({p});
  return places;
}

// Steps as a loader of somebody else has them. A trace tells how much of a step's time each cause
// has, in many pieces; the account of a step has one idle time, in front of its compute: the pieces
// are drawn together there, which leaves all sums as they were.
class RankTeller {
 public:
  RankTeller(Folder& folder, std::int32_t rank, const WalkedRank& walked, std::int64_t batch_size)
      : folder_(folder), rank_(rank), walked_(walked), batch_size_(batch_size) {}

  void tell(Nanos zero) {
    if (walked_.walked.empty()) return;
    end_ = walked_.walked.front().step.at.begin - zero;
    folder_.first_ask(rank_, end_);
    for (const WalkedStep& step : walked_.walked) tell_step(step);
  }

 private:
  void tell_step(const WalkedStep& walked) {
    PerCause<Nanos> stall{};
    for (std::size_t k = 0; k < kGapKinds; ++k) {
      const GapRow& row = gap_table()[k];
      const bool is_told = walked_.has_loader || !row.may_be_loader;
      stall[is_told ? row.cause : Cause::other] += walked.parts.of.at(k);
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

// No trace tells whether a worker rested before it made a batch, nor what else was under way: the
// second label and the critical path are not known.
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

struct GapSummary {
  GapTotal total;
  double mean_s = 0;
  Nanos origin = 0;
};

void add_gap_metrics(std::vector<Metric>& metrics, GapKind kind, const GapSummary& summary,
                     bool in_order) {
  const auto add = [&](GapFact fact, double value) {
    const GapFactRow& row = row_of(fact);
    metrics.push_back(
        {metric_name(kind, fact), std::string(row.unit), std::string(row.help), value});
  };
  add(GapFact::seconds, summary.mean_s);
  if (!in_order) return;
  add(GapFact::gaps, static_cast<double>(summary.total.gaps));
  add(GapFact::steps, static_cast<double>(summary.total.steps));
  if (summary.total.gaps == 0) return;
  add(GapFact::longest, seconds(summary.total.longest));
  add(GapFact::at, seconds(summary.total.longest_at - summary.origin));
  add(GapFact::step, static_cast<double>(summary.total.longest_step));
}

class RecordMaker {
 public:
  RecordMaker(TracedRun run, std::int64_t batch_size)
      : run_(std::move(run)), batch_size_(batch_size), places_(places_of(run_)) {}

  RunRecord make() {
    const Stretch all = extent_of(run_);
    constexpr Nanos kLongest = Nanos{1} << 59;
    if (all.length() > kLongest)
      throw RunError(
          "the traces' times lie more than 18 years apart; give files of one run, as they were "
          "recorded");
    for (TracedProcess& process : run_.processes)
      if (!process.origin) process.origin = all.begin;
    walk_ranks();
    fold(all.begin);
    put_config();
    put_metrics();
    put_notes();
    record_.engine = "trace";
    record_.contention_known = false;
    record_.machine.host = run_.host;
    record_.machine.gpus = run_.gpus;
    return std::move(record_);
  }

 private:
  void walk_ranks();
  void fold(Nanos zero);
  void put_config();
  void put_metrics();
  void put_gaps();
  void put_notes();
  void put_note_of_ranks();
  void put_samples();
  void put_note_of_samples();
  double mean_s(Nanos WalkedRank::*part) const;
  bool has_gpu() const { return !run_.gpus_used.empty(); }

  TracedRun run_;
  std::int64_t batch_size_;
  std::vector<Place> places_;
  RankWaits waits_;
  std::vector<WalkedRank> ranks_;
  RunRecord record_;
};

void RecordMaker::walk_ranks() {
  std::map<std::size_t, std::pair<HostView, Stretch>> hosts;
  std::deque<GpuView> gpus;
  std::vector<RankView> views;
  for (const Place& place : places_) {
    TracedProcess& process = run_.processes[place.process];
    if (!hosts.contains(place.process)) {
      const Stretch extent = process.extent();
      hosts.emplace(place.process, std::pair(HostView(process), extent));
    }
    views.push_back({nullptr, &hosts.at(place.process).first, nullptr});
    if (place.gpu == nullptr) continue;
    views.back().gpu = &gpus.emplace_back(*place.gpu);
    views.back().collectives = &place.gpu->collectives;
  }
  if (has_gpu() && run_.is_one_host) waits_ = waits_for_ranks(views);
  waits_.ranks.resize(views.size());
  for (std::size_t r = 0; r < views.size(); ++r) {
    const TracedGpu* gpu = places_[r].gpu;
    const Stretch of_process = hosts.at(places_[r].process).second;
    ranks_.push_back(walk(*views[r].host, run_.processes[places_[r].process].steps, views[r].gpu,
                          waits_.ranks[r].for_loader,
                          gpu != nullptr ? gpu->extent.value_or(of_process) : of_process));
  }
}

void RecordMaker::fold(Nanos zero) {
  FoldOptions options;
  options.ranks = static_cast<std::int32_t>(ranks_.size());
  Folder folder(options);
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    RankTeller(folder, static_cast<std::int32_t>(r), ranks_[r], batch_size_).tell(zero);
  record_.ranks = folder.finish();
  for (RankRecord& rank : record_.ranks) forget_why(rank);
}

// What a trace tells of the settings; the others it does not have.
void RecordMaker::put_config() {
  RunConfig& config = record_.config;
  config.engine.value = "trace";
  config.trainer.device.value = has_gpu() ? "cuda" : "script";
  config.trainer.ranks.value = std::ssize(ranks_);
  config.loader.batch_size.value = std::max<std::int64_t>(batch_size_, 1);
  const std::optional<std::int64_t> workers = run_.processes.front().workers;
  config.loader.executor.value = workers == 0 ? Executor::inline_ : Executor::opaque;
  config.loader.num_workers.value = workers.value_or(1);
  config.measure.duration.value = 0;
  config.measure.warmup.value = {};
  Copied pageable, pinned;
  bool own_stream = false;
  for (const TracedGpu& gpu : run_.gpus_used) {
    pageable.bytes += gpu.from_pageable.bytes;
    pinned.bytes += gpu.from_pinned.bytes;
    own_stream |= gpu.copies_on_own_stream();
  }
  config.loader.memory.value =
      pageable.bytes > pinned.bytes ? MemoryMode::pageable : MemoryMode::pin_thread;
  config.trainer.copy.value = own_stream ? CopyMode::stream : CopyMode::async;
}

double RecordMaker::mean_s(Nanos WalkedRank::*part) const {
  double sum = 0;
  for (const WalkedRank& rank : ranks_) sum += seconds(rank.*part);
  return sum / static_cast<double>(std::max<std::size_t>(ranks_.size(), 1));
}

void RecordMaker::put_gaps() {
  for (std::size_t k = 0; k < kGapKinds; ++k) {
    GapSummary summary;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const GapTotal& total = ranks_[r].gaps.at(k);
      summary.mean_s += seconds(total.time) / static_cast<double>(ranks_.size());
      summary.total.gaps += total.gaps;
      summary.total.steps += total.steps;
      if (total.longest <= summary.total.longest) continue;
      summary.total.longest = total.longest;
      summary.total.longest_at = total.longest_at;
      summary.total.longest_step = total.longest_step;
      summary.origin = run_.processes[places_[r].process].origin.value_or(0);
    }
    const bool in_order = !run_.sampled || run_.sampled->in_order;
    if (summary.mean_s > 0)
      add_gap_metrics(record_.metrics, static_cast<GapKind>(k), summary, in_order);
  }
}

void RecordMaker::put_metrics() {
  auto& metrics = record_.metrics;
  put_gaps();
  metrics.push_back({"trace.steps_known", "1",
                     "the trace tells steps apart; else all of it is one (0)",
                     ranks_.front().steps.basis == StepBasis::none ? 0.0 : 1.0});
  if (run_.has_loader) {
    std::int64_t calls = 0;
    for (const WalkedRank& rank : ranks_) calls += rank.loader_calls;
    metrics.push_back({"loader.waits_s", "s",
                       "that the trainer was in its DataLoader's next, whatever the GPU did, mean "
                       "over ranks",
                       mean_s(&WalkedRank::loader_waits)});
    if (run_.sampled) return put_samples();
    metrics.push_back(
        {"loader.batches", "1", "that were asked for, of all ranks", static_cast<double>(calls)});
  }
  if (!has_gpu()) return;
  metrics.push_back({"gpu.kernels_s", "s",
                     "in which a kernel ran, mean over ranks; compute also counts what is copied "
                     "within the GPU and set",
                     mean_s(&WalkedRank::kernels)});
  if (const double only = mean_s(&WalkedRank::only_collective); only > 0)
    metrics.push_back({"gpu.only_collective_s", "s",
                       "of compute, in which nothing but collectives ran: they exchange data, or "
                       "wait for another rank; mean over ranks",
                       only});
  if (waits_.are_told) {
    double waited = 0;
    for (const RankWait& wait : waits_.ranks) waited += seconds(wait.for_any);
    metrics.push_back({"gpu.waits_for_ranks_s", "s",
                       "in collectives that another rank had not begun, for whatever reason, over "
                       "all of the trace, mean over ranks",
                       waited / static_cast<double>(ranks_.size())});
  }
  double bytes = 0;
  Nanos copied = 0;
  for (const TracedGpu& gpu : run_.gpus_used) {
    bytes += gpu.from_pageable.bytes + gpu.from_pinned.bytes;
    copied += gpu.from_pageable.time + gpu.from_pinned.time;
  }
  if (copied == 0) return;
  metrics.push_back(
      {"gpu.h2d_s", "s", "copies from the host to the GPUs, all together", seconds(copied)});
  metrics.push_back(
      {"gpu.h2d_bytes", "bytes", "that were copied from the host to the GPUs", bytes});
}

void RecordMaker::put_samples() {
  const SampledShares& sampled = *run_.sampled;
  const auto add = [&](const char* name, const char* help, std::int64_t samples) {
    record_.metrics.push_back({name, "1", help, static_cast<double>(samples)});
  };
  const auto of = [&](Stand stand) { return sampled.of.at(static_cast<std::size_t>(stand)); };
  add("profile.samples", "of the training thread, without its imports", sampled.all);
  add("profile.own", "of them in nothing of the DataLoader's", of(Stand::own));
  add("profile.waiting", "of them in its next, for workers", of(Stand::waiting));
  add("profile.making", "of them in its next, which makes the batch itself", of(Stand::making));
  add("profile.pinning", "of them in its next, which pins", of(Stand::pinning));
  add("profile.starting", "of them in its iter", of(Stand::starting));
}

// Wilson's interval of a share that was counted.
std::string counted_share(std::int64_t part, std::int64_t all) {
  constexpr double kZ = 1.96;
  const auto n = static_cast<double>(std::max<std::int64_t>(all, 1));
  const double share = static_cast<double>(part) / n, z = kZ * kZ / n;
  const double middle = (share + z / 2) / (1 + z);
  const double half = kZ * std::sqrt(share * (1 - share) / n + z / (4 * n)) / (1 + z);
  return fmt::format("{:.1f} %, 95 %: {:.1f} to {:.1f}", 100 * share, 100 * (middle - half),
                     100 * (middle + half));
}

void RecordMaker::put_note_of_samples() {
  const SampledShares& sampled = *run_.sampled;
  const std::int64_t own = sampled.of.at(static_cast<std::size_t>(Stand::own));
  record_.notes.push_back(fmt::format(
      "read from samples of stacks ({}): {} of the training thread's {} stand in the DataLoader "
      "({}); what takes less than the time between two samples is not seen",
      run_.tool, sampled.all - own, sampled.all, counted_share(sampled.all - own, sampled.all)));
  if (!sampled.in_order)
    record_.notes.push_back(
        "the file does not tell when a stack was seen: what the thread did before and after its "
        "training counts too, but for imports");
}

void RecordMaker::put_notes() {
  auto& notes = record_.notes;
  if (run_.sampled) put_note_of_samples();
  const StepBasis basis = ranks_.front().steps.basis;
  if (!run_.sampled)
    notes.push_back(
        fmt::format("read from a trace of {}; steps are {}", run_.tool,
                    basis == StepBasis::marks ? "as they were marked"
                    : basis == StepBasis::loader
                        ? "from one ask for a batch to the next"
                        : "not marked: --step-range NAME takes a range of the program's"));
  if (!has_gpu())
    notes.push_back(
        "no GPU was recorded: compute is all that the host did but wait for its DataLoader");
  if (run_.has_loader)
    notes.push_back(
        "why its DataLoader was late no trace tells: loaderscope run -- python train.py ... looks "
        "into it");
  if (!run_.has_loader && !run_.no_loader.empty()) notes.push_back(run_.no_loader);
  if (has_gpu() && !run_.has_calls)
    notes.push_back("no CUDA calls were recorded: what the host did before a launch is not known");
  put_note_of_ranks();
  Nanos overhead = 0, unknown = 0;
  for (const WalkedRank& rank : ranks_)
    for (const WalkedStep& step : rank.walked) overhead += step.parts.overhead;
  for (const WalkedRank& rank : ranks_) unknown += rank.gaps[std::size_t(GapKind::unknown)].time;
  if (unknown > 0 && !run_.more_to_record.empty()) notes.push_back(run_.more_to_record);
  if (overhead > 0)
    notes.push_back(fmt::format("{:.3f} s in which the GPU waited for the tracing are left out",
                                seconds(overhead)));
  if (run_.unusable > 0)
    notes.push_back(
        fmt::format("{} events had no times that make sense, and are left out", run_.unusable));
  for (std::string& note : run_.notes) notes.push_back(std::move(note));
}

void RecordMaker::put_note_of_ranks() {
  if (ranks_.size() < 2 || !has_gpu()) return;
  auto& notes = record_.notes;
  constexpr const char* kUntold = "which rank was waited for in collectives cannot be told: ";
  if (!run_.is_one_host)
    notes.push_back(
        fmt::format("{}the traces are of several machines, whose clocks differ", kUntold));
  if (!waits_.untold.empty()) notes.push_back(kUntold + waits_.untold);
  std::size_t last = 0;
  std::int64_t all = 0;
  for (std::size_t r = 0; r < waits_.ranks.size(); ++r) {
    all += waits_.ranks[r].came_last;
    if (waits_.ranks[r].came_last > waits_.ranks[last].came_last) last = r;
  }
  if (all == 0) return;
  notes.push_back(fmt::format(
      "in collectives the others waited for the DataLoader of {} most often: {} of {} waits",
      run_.processes[places_[last].process].name, waits_.ranks[last].came_last, all));
}

}  // namespace

RunRecord record_of(TracedRun run, std::int64_t batch_size) {
  return RecordMaker(std::move(run), batch_size).make();
}

}  // namespace loaderscope::traces
