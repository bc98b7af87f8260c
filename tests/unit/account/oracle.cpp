#include "unit/account/oracle.h"

#include <algorithm>
#include <set>

namespace loaderscope {
namespace {

using KeptRank = FactKeeper::Rank;

bool holds(const Interval& interval, Nanos t) {
  return interval.ran() && interval.begin <= t && t < interval.end;
}

// Cause of the device's wait at one instant.
struct Decision {
  Cause cause = Cause::other;
  bool not_asking = false;
  bool is_epoch = false;   // has why = epoch whatever the batch
  bool is_making = false;  // gets the why of its batch
  bool on_device = false;  // made on the device
  bool lane_wait = false;  // no task of the batch runs
  // Work in progress. Its run-queue delay is booked as contention.
  Interval work = {};
};

// Returns the first of a worker's spans that begins after `t`, or null.
const Span* next_span(const std::vector<Span>& spans, Nanos t) {
  const auto next = std::upper_bound(spans.begin(), spans.end(), t,
                                     [](Nanos at, const Span& span) { return at < span.begin; });
  return next == spans.end() ? nullptr : &*next;
}

// Returns the span of the worker at the instant `t`, or null.
const Span* span_at(const std::vector<Span>& spans, Nanos t) {
  const Span* next = next_span(spans, t);
  const Span* end = next ? next : spans.data() + spans.size();
  if (end == spans.data()) return nullptr;
  const Span* last = end - 1;
  return t < last->end ? last : nullptr;
}

// Returns true if the worker starts only later: its next span is a start, or the first span that it
// has. Empty spans at one instant have no order, so that each of them may be the next.
bool is_not_up(const std::vector<Span>& spans, Nanos t, Nanos finished) {
  const Span* next = next_span(spans, t);
  if (next == nullptr || next->begin >= finished) return false;
  if (next == spans.data()) return true;
  return std::any_of(next, spans.data() + spans.size(), [next](const Span& span) {
    return span.begin == next->begin && span.end == next->end &&
           (span.stage == Stage::startup || span.stage == Stage::startup_parent);
  });
}

Interval at_work(const Interval& work, Nanos t) { return holds(work, t) ? work : Interval{}; }

// The trainer woke up at `end`, having waited for a core for the last `queued` ns.
Interval waking(Nanos end, Nanos queued, Nanos t) {
  return at_work({end - queued, end, 0, queued}, t);
}

// Rule 4: the batch waits to be received, or to be taken.
Decision decide_hand_over(const StepEvents& batch, Nanos t) {
  if (holds(batch.receive, t)) return {.cause = Cause::transport, .work = batch.receive};
  // The device thread, if there is one, receives in its place.
  const bool trainer_receives = batch.receive.ran() && !batch.pin.ran() &&
                                (batch.made_count == 0 || batch.submitted_by_trainer);
  const Nanos woken = trainer_receives ? batch.receive.begin : batch.take;
  return {.cause = Cause::transport, .work = waking(woken, batch.take_queued, t)};
}

// Rules 5 to 8: the batch is not finished.
Decision decide_making(const KeptRank& rank, const StepEvents& batch, Nanos t) {
  const bool trainer_makes_it = batch.made_by_trainer;
  if (trainer_makes_it && t < batch.ask && !batch.first_of_epoch) {
    return {
        .cause = Cause::launch, .not_asking = true, .work = waking(batch.ask, batch.ask_queued, t)};
  }
  if (batch.first_of_epoch && t < batch.epoch_dispatch) {
    return {.cause = Cause::startup, .is_epoch = true};
  }
  const auto worker = rank.workers.find(batch.worker);
  if (worker == rank.workers.end()) return {.cause = Cause::other};
  const Span* span = span_at(worker->second, t);
  if (span == nullptr) {
    if (is_not_up(worker->second, t, batch.finished))
      return {.cause = Cause::startup, .is_epoch = true};
    return {.cause = Cause::other};
  }
  switch (span->stage) {
    case Stage::startup:
    case Stage::startup_parent:
      return {.cause = Cause::startup, .is_epoch = true};
    case Stage::idle:
      return {.cause = Cause::prefetch, .is_making = true};
    default:
      break;
  }
  return {.cause = stage_cause(span->stage),
          .is_making = true,
          .work = {span->begin, span->end, span->cpu, span->queued}};
}

// Returns the cause of the device's wait for `batch` at the instant `t`, for a batch that is made
// on the host.
Decision decide_host(const KeptRank& rank, const StepEvents& batch, Nanos t) {
  const bool trainer_has_it = t >= batch.take;
  const bool trainer_asks = t >= batch.ask;
  const bool is_deliverable = t >= batch.deliverable;
  const bool is_finished = t >= batch.finished;

  if (holds(batch.copy, t)) return {.cause = Cause::h2d, .work = batch.copy};
  if (trainer_has_it) return {.cause = Cause::launch, .work = at_work(batch.launch, t)};
  if (is_deliverable && !trainer_asks)
    return {
        .cause = Cause::launch, .not_asking = true, .work = waking(batch.ask, batch.ask_queued, t)};
  if (is_deliverable) return decide_hand_over(batch, t);
  if (!is_finished) return decide_making(rank, batch, t);

  if (holds(batch.pin, t)) return {.cause = Cause::pin, .work = batch.pin};
  if (holds(batch.send, t)) return {.cause = Cause::transport, .work = batch.send};
  if (holds(batch.receive, t)) return {.cause = Cause::transport, .work = batch.receive};
  const bool being_sent = batch.send.ran() && t < batch.send.end;
  const bool being_received = holds(batch.receive, t);
  const bool will_be_pinned = batch.pin.ran() && t < batch.pin.begin;
  if (will_be_pinned && !being_sent && !being_received) return {.cause = Cause::pin};
  return {.cause = Cause::transport};
}

// Returns the task of the batch that ends last; of equals the first. Null if `wanted` is false for
// all.
template <class Wanted>
const DeviceWork* last_to_end(const StepEvents& batch, const Wanted& wanted) {
  const DeviceWork* found = nullptr;
  for (std::size_t i = 0; i < batch.made_count; ++i) {
    const DeviceWork& task = batch.made.at(i);
    if (wanted(task) && (found == nullptr || task.at.end > found->at.end)) found = &task;
  }
  return found;
}

// Returns the task that begins first after `t`; of equals the first. Null if none does.
const DeviceWork* next_to_begin(const StepEvents& batch, Nanos t) {
  const DeviceWork* found = nullptr;
  for (std::size_t i = 0; i < batch.made_count; ++i) {
    const DeviceWork& task = batch.made.at(i);
    if (task.at.begin > t && (found == nullptr || task.at.begin < found->at.begin)) found = &task;
  }
  return found;
}

bool takes_any(const DeviceWork&) { return true; }

// Returns the end of production on the device if it is later than all that the trainer does, else
// 0.
Nanos late_end(const StepEvents& batch) {
  const DeviceWork* last = last_to_end(batch, takes_any);
  if (last == nullptr) return 0;
  Nanos trainer = std::max(batch.take, batch.submitted);
  if (batch.copy.ran()) trainer = std::max(trainer, batch.copy.end);
  return last->at.end > trainer ? last->at.end : 0;
}

Decision wait_for_task(const DeviceWork& task, bool runs, Interval work) {
  Decision decision;
  switch (task.stage) {
    case Stage::gpu_decode:
      decision.cause = Cause::decode;
      break;
    case Stage::gpu_augment:
      decision.cause = Cause::augment;
      break;
    default:
      decision.cause = Cause::h2d;
  }
  decision.on_device = decision.is_making = decision.cause != Cause::h2d;
  decision.lane_wait = !runs;
  decision.work = work;
  return decision;
}

// Rules B0 to B3. If the trainer submits the tasks, the rules of the host, with its tasks next to
// the copy.
Decision decide(const KeptRank& rank, const StepEvents& batch, Nanos t) {
  if (batch.made_count == 0) return decide_host(rank, batch, t);
  if (batch.submitted_by_trainer) {
    const DeviceWork* running =
        last_to_end(batch, [t](const DeviceWork& task) { return holds(task.at, t); });
    return running != nullptr ? wait_for_task(*running, true, {}) : decide_host(rank, batch, t);
  }
  const Nanos late = late_end(batch);
  if (t >= (late > 0 ? late : batch.deliverable)) return decide_host(rank, batch, t);
  if (t < batch.handed) {
    StepEvents before = batch;
    before.deliverable = batch.handed;
    return decide_host(rank, before, t);
  }
  const auto runs = [t](const DeviceWork& task) { return holds(task.at, t); };
  if (const DeviceWork* running = last_to_end(batch, runs))
    return wait_for_task(*running, true, {});
  if (const DeviceWork* next = next_to_begin(batch, t))
    return wait_for_task(*next, false, at_work(next->submit, t));
  return wait_for_task(*last_to_end(batch, takes_any), false, {});
}

// Returns the run-queue delay in the first `at - begin` ns of the work, in ns.
Nanos queued_until(const Interval& work, Nanos at) {
  __extension__ typedef __int128 Wide;
  return static_cast<Nanos>(static_cast<Wide>(work.queued) * (at - work.begin) /
                            (work.end - work.begin));
}

class Recomputation {
 public:
  Recomputation(const FactKeeper& facts, bool in_order, bool sync_ranks)
      : facts_(facts), in_order_(in_order), barrier_(sync_ranks && facts.ranks.size() > 1) {}

  OracleRow row(std::int32_t rank_index, std::size_t k) const {
    const KeptRank& rank = facts_.ranks.at(rank_index);
    const StepEvents& step = rank.steps.at(k);
    const KeptRank* slowest = barrier_ ? slowest_rank(k) : nullptr;
    const bool waits = slowest != nullptr && slowest != &rank;

    OracleRow row;
    Made made, made_by_slowest;
    const std::vector<Nanos> instants = time_points(rank, slowest, k);
    for (std::size_t i = 0; i + 1 < instants.size(); ++i) {
      const Nanos from = instants[i], to = instants[i + 1];
      if (!waits || from < step.ready) {
        book(row, rank, step, from, to, made);
        continue;
      }
      row.waiting_for_ranks += to - from;
      if (from < idle_begin(*slowest, k)) {  // the slowest rank still computes its previous step
        row.stall[Cause::launch] += to - from;
      } else {
        book(row, *slowest, slowest->steps.at(k), from, to, made_by_slowest);
      }
    }
    row.made_end = late_end(step);
    row.device.shared = shared_time(rank, k);
    label(row, rank, k, made);
    if (waits) label(row, *slowest, k, made_by_slowest);
    return row;
  }

 private:
  struct Made {  // ns that get a why
    Nanos worker_made = 0, device_made = 0;
  };

  // Every instant at which production of the step and an earlier compute run.
  static Nanos shared_time(const KeptRank& rank, std::size_t k) {
    const StepEvents& step = rank.steps[k];
    std::set<Nanos> points;
    const auto add = [&](const Interval& interval) {
      points.insert(interval.begin);
      points.insert(interval.end);
    };
    for (std::size_t i = 0; i < step.made_count; ++i) add(step.made.at(i).at);
    if (points.empty()) return 0;
    for (std::size_t before = 0; before < k; ++before) add(rank.steps[before].compute);
    Nanos shared = 0;
    for (auto at = points.begin(); std::next(at) != points.end(); ++at) {
      const bool makes = last_to_end(step, [&](const DeviceWork& task) {
                           return task.stage != Stage::h2d && holds(task.at, *at);
                         }) != nullptr;
      const bool computes =
          std::any_of(rank.steps.begin(), rank.steps.begin() + static_cast<std::ptrdiff_t>(k),
                      [&](const StepEvents& earlier) { return holds(earlier.compute, *at); });
      if (makes && computes) shared += *std::next(at) - *at;
    }
    return shared;
  }

  static Nanos idle_begin(const KeptRank& rank, std::size_t k) {
    return k == 0 ? rank.first_ask : rank.steps[k - 1].compute.end;
  }

  // The last to be ready; of equals the first.
  const KeptRank* slowest_rank(std::size_t k) const {
    const KeptRank* slowest = nullptr;
    for (const auto& [index, rank] : facts_.ranks) {
      if (!slowest || rank.steps.at(k).ready > slowest->steps.at(k).ready) slowest = &rank;
    }
    return slowest;
  }

  // Between two neighbours of these nothing changes.
  std::vector<Nanos> time_points(const KeptRank& rank, const KeptRank* slowest,
                                 std::size_t k) const {
    const Nanos begin = idle_begin(rank, k), end = rank.steps[k].compute.begin;
    std::set<Nanos> points = {begin, end};
    const auto add = [&](Nanos t) {
      if (begin < t && t < end) points.insert(t);
    };
    for (const KeptRank* each : {&rank, slowest}) {
      if (!each) continue;
      const StepEvents& step = each->steps[k];
      for (const Nanos t : {step.epoch_dispatch, step.finished, step.deliverable, step.ask,
                            step.take, step.ready, idle_begin(*each, k), step.ask - step.ask_queued,
                            step.take - step.take_queued, step.receive.begin - step.take_queued}) {
        add(t);
      }
      for (const Interval& interval : {step.send, step.receive, step.pin, step.copy, step.launch}) {
        add(interval.begin);
        add(interval.end);
      }
      add(step.handed);
      for (std::size_t i = 0; i < step.made_count; ++i) {
        const DeviceWork& task = step.made.at(i);
        for (const Nanos t : {task.submit.begin, task.submit.end, task.at.begin, task.at.end})
          add(t);
      }
      for (const auto& [batch, at] : each->deliverable) add(at);
      const auto worker = each->workers.find(step.worker);
      if (worker == each->workers.end()) continue;
      const std::vector<Span>& spans = worker->second;
      if (const Span* before = span_at(spans, begin)) add(before->end);
      for (const Span* span = next_span(spans, begin);
           span && span != spans.data() + spans.size() && span->begin < end; ++span) {
        add(span->begin);
        add(span->end);
      }
    }
    return {points.begin(), points.end()};
  }

  void book(OracleRow& row, const KeptRank& rank, const StepEvents& batch, Nanos from, Nanos to,
            Made& made) const {
    const Decision decision = decide(rank, batch, from);
    const Nanos length = to - from;
    Nanos queued = 0;
    if (decision.work.ran())
      queued = queued_until(decision.work, to) - queued_until(decision.work, from);
    row.stall[Cause::contention] += queued;
    row.stall[decision.cause] += length - queued;
    if (decision.not_asking) row.not_asking += length - queued;
    if (decision.is_epoch) row.why[Why::epoch] += length;
    if (decision.lane_wait) row.device.lane_wait += length - queued;
    if (decision.on_device)
      (decision.cause == Cause::decode ? row.device.decode : row.device.augment) += length - queued;
    if (decision.is_making) {
      (decision.on_device ? made.device_made : made.worker_made) += length;
      row.contention_of_making += queued;
    }
    if (in_order_ && from < batch.deliverable && a_later_one_is_there(rank, batch, from))
      row.order += length;
  }

  static bool a_later_one_is_there(const KeptRank& rank, const StepEvents& batch, Nanos t) {
    return std::any_of(rank.deliverable.begin(), rank.deliverable.end(), [&](const auto& mark) {
      return mark.first > batch.batch && mark.second <= t;
    });
  }

  static void label(OracleRow& row, const KeptRank& rank, std::size_t k, const Made& made) {
    const StepEvents& batch = rank.steps.at(k);
    label(row, batch, made.worker_made, batch.worker_idle);
    label(row, batch, made.device_made, lanes_rested(rank, k));
  }

  // A slot that was missing delayed the batch only while all of its lanes had nothing to do.
  static Nanos lanes_rested(const KeptRank& rank, std::size_t k) {
    const StepEvents& batch = rank.steps.at(k);
    Nanos rested = batch.slot_wait;
    for (std::size_t i = 0; i < batch.made_count; ++i) {
      const DeviceWork& task = batch.made.at(i);
      for (std::size_t before = 0; before < k; ++before)
        for (std::size_t j = 0; j < rank.steps[before].made_count; ++j) {
          const DeviceWork& earlier = rank.steps[before].made.at(j);
          if (earlier.lane == task.lane) rested = std::min(rested, task.at.begin - earlier.at.end);
        }
    }
    return std::max<Nanos>(rested, 0);
  }

  static void label(OracleRow& row, const StepEvents& batch, Nanos made, Nanos rested) {
    if (batch.first_of_epoch) {
      row.why[Why::epoch] += made;
      return;
    }
    const Nanos depth = std::min(rested, made);
    row.why[Why::depth] += depth;
    const bool had_no_rest = rested == 0;
    row.why[had_no_rest ? Why::capacity : Why::latency] += made - depth;
  }

  const FactKeeper& facts_;
  bool in_order_;
  bool barrier_;
};

}  // namespace

std::vector<std::vector<OracleRow>> recompute_account(const FactKeeper& facts, bool in_order,
                                                      bool sync_ranks) {
  const Recomputation recomputation(facts, in_order, sync_ranks);
  std::vector<std::vector<OracleRow>> rows;
  for (const auto& [index, rank] : facts.ranks) {
    rows.emplace_back();
    for (std::size_t k = 0; k < rank.steps.size(); ++k)
      rows.back().push_back(recomputation.row(index, k));
  }
  return rows;
}

std::string difference(const StepRow& row, const OracleRow& expected) {
  std::string text;
  const auto compare = [&](std::string_view name, Nanos folded, Nanos recomputed) {
    if (folded == recomputed) return;
    text += "step " + std::to_string(row.step) + " " + std::string(name) + ": folded " +
            std::to_string(folded) + ", recomputed " + std::to_string(recomputed) + "\n";
  };
  for (std::size_t i = 0; i < kCauses; ++i) {
    compare(name_of(static_cast<Cause>(i)), row.stall.at(i), expected.stall.at(i));
  }
  for (std::size_t i = 0; i < kWhys; ++i) {
    compare(name_of(static_cast<Why>(i)), row.why.at(i), expected.why.at(i));
  }
  compare("not asking", row.not_asking, expected.not_asking);
  compare("waiting for ranks", row.waiting_for_ranks, expected.waiting_for_ranks);
  compare("order", row.order, expected.order);
  compare("decode on the device", row.device.decode, expected.device.decode);
  compare("augment on the device", row.device.augment, expected.device.augment);
  compare("lane wait", row.device.lane_wait, expected.device.lane_wait);
  compare("shared", row.device.shared, expected.device.shared);
  compare("made end", row.made_end, expected.made_end);
  return text;
}

}  // namespace loaderscope
