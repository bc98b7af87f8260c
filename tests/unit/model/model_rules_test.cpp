// The rules of the loader and of the training loop (design, sections 3 and 6), checked from outside
// on every fact of random pipelines.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "unit/account/random_pipelines.h"

namespace loaderscope {
namespace {

// One rank of one run, with the questions that the rules ask.
class Observed {
 public:
  Observed(const RunConfig& config, const FactKeeper::Rank& rank) : config_(config), rank_(rank) {
    std::map<std::int32_t, std::int64_t> first_batch;  // first batch of each epoch
    for (const StepEvents& step : rank.steps) {
      const auto [at, is_new] = first_batch.emplace(step.epoch, step.batch);
      if (!is_new) at->second = std::min(at->second, step.batch);
    }
    for (const StepEvents& step : rank.steps) {
      place_in_epoch_[step.batch] = step.batch - first_batch[step.epoch];
      takes_[step.epoch].push_back(step.take);
      worker_steps_[step.worker].push_back(&step);
    }
    for (auto& [worker, batches] : worker_steps_) {
      std::sort(batches.begin(), batches.end(),
                [](const StepEvents* a, const StepEvents* b) { return a->batch < b->batch; });
    }
  }

  void check() const {
    for (std::size_t k = 0; k < rank_.steps.size(); ++k) {
      const StepEvents& step = rank_.steps[k];
      SCOPED_TRACE("step " + std::to_string(k));
      check_dispatch(step);
      check_making(step);
      check_transport(step);
      check_trainer(k);
      check_device(k);
    }
    check_threads();
    if (!has_workers()) return;
    check_rests();
    if (batch_tasks()) check_rest_before_batches();
    if (batch_tasks() && !in_order()) check_shares();
  }

 private:
  bool has_workers() const { return config_.loader.num_workers > 0; }
  bool batch_tasks() const { return config_.loader.task == TaskShape::batch; }
  bool in_order() const { return config_.loader.in_order || !has_workers(); }
  bool pins() const { return config_.loader.memory == MemoryMode::pin_thread; }
  bool pageable() const { return config_.loader.memory == MemoryMode::pageable; }

  std::int64_t window() const {
    return batch_tasks() ? config_.loader.prefetch_factor * config_.loader.num_workers
                         : config_.loader.prefetch_depth.value;
  }

  // The window is filled when an epoch begins; then every take dispatches one.
  void check_dispatch(const StepEvents& step) const {
    const std::int64_t place = place_in_epoch_.at(step.batch);
    if (!has_workers()) {
      EXPECT_TRUE(step.made_by_trainer);
      EXPECT_EQ(step.dispatched, step.first_of_epoch ? step.epoch_dispatch : step.ask);
      return;
    }
    const bool fills_window = place < window();
    const Nanos expected = fills_window
                               ? step.epoch_dispatch
                               : takes_.at(step.epoch)[static_cast<std::size_t>(place - window())];
    EXPECT_EQ(step.dispatched, expected);
    if (batch_tasks() && in_order()) {
      EXPECT_EQ(step.worker, place % config_.loader.num_workers);
    }
    EXPECT_EQ(step.first_of_epoch,
              step.take == takes_.at(step.epoch).front() && is_first_taken(step));
    if (in_order()) {
      EXPECT_EQ(step.batch, step.step);
    }
  }

  bool is_first_taken(const StepEvents& step) const {
    const auto first = std::find_if(rank_.steps.begin(), rank_.steps.end(),
                                    [&](const StepEvents& s) { return s.epoch == step.epoch; });
    return first->step == step.step;
  }

  // A worker begins its next batch as soon as it has it, is up and has finished the one before.
  void check_making(const StepEvents& step) const {
    EXPECT_GE(step.begun, step.dispatched);
    EXPECT_GE(step.finished, step.begun);
    if (!has_workers() || !batch_tasks()) return;
    Nanos expected = step.dispatched;
    const auto& batches = worker_steps_.at(step.worker);
    const auto at = std::find(batches.begin(), batches.end(), &step);
    const bool knows_all_before =
        in_order();  // out of order an earlier batch may not have been delivered
    if (at != batches.begin()) expected = std::max(expected, (*(at - 1))->finished);
    const auto worker = rank_.workers.find(step.worker);
    if (worker != rank_.workers.end()) {
      for (const Span& span : worker->second) {
        const bool is_startup = span.stage == Stage::startup || span.stage == Stage::startup_parent;
        if (is_startup && span.begin <= step.begun) expected = std::max(expected, span.end);
      }
    }
    if (knows_all_before) {
      EXPECT_EQ(step.begun, expected);
    }
    EXPECT_GE(step.begun, expected);
  }

  void check_transport(const StepEvents& step) const {
    Nanos at = step.finished;
    const auto follows = [&](const Interval& interval) {
      if (!interval.ran()) return;
      EXPECT_GE(interval.begin, at);
      EXPECT_GE(interval.end, interval.begin);
      EXPECT_EQ(
          interval.cpu + interval.queued == interval.wall() || interval.cpu + interval.queued == 0,
          true);
      at = interval.end;
    };
    follows(step.send);
    if (pins()) {
      follows(step.receive);
      EXPECT_TRUE(step.pin.ran());
      follows(step.pin);
    } else {
      EXPECT_FALSE(step.pin.ran());
    }
    EXPECT_EQ(step.deliverable, at);
    if (!pins() && step.receive.ran()) {
      EXPECT_GE(step.receive.begin, step.deliverable);
      EXPECT_LE(step.receive.end, step.take);
    }
  }

  // Returns the time at which the trainer had nothing more to do for a step.
  static Nanos submitted(const StepEvents& step, bool waits_for_copy) {
    if (step.launch.ran()) return step.launch.end;
    return waits_for_copy && step.copy.ran() ? step.copy.end : step.take;
  }

  void check_trainer(std::size_t k) const {
    const StepEvents& step = rank_.steps[k];
    const bool waits_for_copy = pageable() || config_.trainer.copy == CopyMode::sync;
    Nanos ask = rank_.first_ask;
    const auto in_flight = static_cast<std::size_t>(config_.trainer.in_flight.value);
    if (k > 0) ask = std::max(ask, submitted(rank_.steps[k - 1], waits_for_copy));
    if (k >= in_flight) ask = std::max(ask, rank_.steps[k - in_flight].compute.end);
    EXPECT_EQ(step.ask, ask);
    EXPECT_GE(step.take, std::max(step.ask, step.deliverable));
    const bool receives =
        config_.declared_cost(Stage::transport_recv) != nullptr || injects(Stage::transport_recv);
    if (!receives || pins() || !has_workers()) {
      EXPECT_EQ(step.take, std::max(step.ask, step.deliverable));
    }
    if (step.launch.ran()) {
      EXPECT_EQ(step.launch.begin, waits_for_copy && step.copy.ran() ? step.copy.end : step.take);
    }
  }

  bool injects(Stage stage) const {
    return std::any_of(config_.declared.inject.value.begin(), config_.declared.inject.value.end(),
                       [stage](const Injection& injection) { return injection.stage == stage; });
  }

  void check_device(std::size_t k) const {
    const StepEvents& step = rank_.steps[k];
    const bool waits_for_copy = pageable() || config_.trainer.copy == CopyMode::sync;
    const Nanos computed = k > 0 ? rank_.steps[k - 1].compute.end : rank_.first_ask;
    if (step.copy.ran()) {
      Nanos queue = config_.trainer.copy == CopyMode::stream ? rank_.first_ask : computed;
      for (std::size_t before = k; config_.trainer.copy == CopyMode::stream && before-- > 0;) {
        if (!rank_.steps[before].copy.ran()) continue;
        queue = rank_.steps[before].copy.end;
        break;
      }
      EXPECT_EQ(step.copy.begin, std::max(step.take, queue));
    }
    Nanos ready = std::max(submitted(step, waits_for_copy), computed);
    if (step.copy.ran()) ready = std::max(ready, step.copy.end);
    EXPECT_EQ(step.ready, ready);
    if (!config_.trainer.sync_ranks) {
      EXPECT_EQ(step.compute.begin, ready);
    }
    EXPECT_GE(step.compute.begin, ready);
  }

  // No thread does two things at once.
  void check_threads() const {
    std::vector<Interval> pin_thread, trainer;
    std::map<std::int32_t, std::vector<Interval>> feeders;
    for (const StepEvents& step : rank_.steps) {
      if (step.send.ran()) feeders[step.worker].push_back(step.send);
      if (step.pin.ran()) pin_thread.push_back(step.pin);
      if (step.receive.ran()) (pins() ? pin_thread : trainer).push_back(step.receive);
      if (step.launch.ran()) trainer.push_back(step.launch);
      if (pageable() && step.copy.ran()) trainer.push_back(step.copy);
    }
    expect_disjoint(pin_thread);
    expect_disjoint(trainer);
    for (auto& [worker, sends] : feeders) expect_disjoint(sends);
    for (const auto& [worker, spans] : rank_.workers) {
      for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_GE(spans[i].begin, spans[i - 1].end);
      for (const Span& span : spans) {
        EXPECT_GE(span.end, span.begin);
        EXPECT_GE(span.cpu, 0);
        EXPECT_GE(span.queued, 0);
        EXPECT_LE(span.cpu + span.queued, span.end - span.begin);
      }
    }
  }

  static void expect_disjoint(std::vector<Interval>& intervals) {
    std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    for (std::size_t i = 1; i < intervals.size(); ++i)
      EXPECT_GE(intervals[i].begin, intervals[i - 1].end);
  }

  // A worker rests only while there is nothing that it could begin: no batch of its own, no sample
  // of any batch.
  void check_rests() const {
    std::map<std::int64_t, Nanos> dispatched;
    for (const StepEvents& step : rank_.steps) dispatched[step.batch] = step.dispatched;
    for (const auto& [maker, made] : rank_.workers) {
      std::set<std::pair<std::int64_t, std::int64_t>> begun;
      for (const Span& work : made) {
        const auto batch = dispatched.find(work.batch);
        if (batch == dispatched.end() || work.sample < 0) continue;
        if (!begun.emplace(work.batch, work.sample).second)
          continue;  // a later stage of the sample
        for (const auto& [worker, spans] : rank_.workers) {
          if (batch_tasks() && worker != maker) continue;
          const auto rest = rest_at(spans, work.begin);
          if (rest) {
            EXPECT_GE(batch->second, work.begin) << "worker " << worker << " rested";
          }
        }
      }
    }
  }

  // worker_idle: the rest of its worker between the batch before and this one, without what lies
  // before the epoch.
  void check_rest_before_batches() const {
    for (const auto& [worker, batches] : worker_steps_) {
      const auto found = rank_.workers.find(worker);
      if (found == rank_.workers.end()) continue;
      for (const StepEvents* step : batches) {
        Nanos rested = 0;
        for (const Span& span : found->second) {
          if (span.begin >= step->begun) break;
          if (span.stage == Stage::idle) {
            rested += span.end - std::min(span.end, std::max(span.begin, step->epoch_dispatch));
          } else {
            rested = 0;
          }
        }
        EXPECT_EQ(step->worker_idle, rested) << "step " << step->step;
      }
    }
  }

  // Out of order a worker gets a batch only while fewer than prefetch-factor of its own are on
  // their way.
  void check_shares() const {
    const bool trainer_receives = !pins();
    for (const auto& [worker, batches] : worker_steps_) {
      for (const StepEvents* step : batches) {
        std::int64_t others = 0;
        for (const StepEvents* other : batches) {
          const Nanos received =
              trainer_receives && other->receive.ran() ? other->receive.end : other->take;
          if (other->batch < step->batch && received > step->dispatched) ++others;
        }
        EXPECT_LT(others, config_.loader.prefetch_factor) << "step " << step->step;
      }
    }
  }

  // Returns whether the worker rested just before `at`.
  static bool rest_at(const std::vector<Span>& spans, Nanos at) {
    const auto following = std::lower_bound(
        spans.begin(), spans.end(), at, [](const Span& span, Nanos t) { return span.begin < t; });
    if (following == spans.begin()) return false;
    const Span& before = *(following - 1);
    return before.stage == Stage::idle && before.end >= at && before.begin < at;
  }

  const RunConfig& config_;
  const FactKeeper::Rank& rank_;
  std::map<std::int64_t, std::int64_t> place_in_epoch_;
  std::map<std::int32_t, std::vector<Nanos>> takes_;  // takes of each epoch
  std::map<std::int32_t, std::vector<const StepEvents*>> worker_steps_;
};

// No more CPU time than cores.
void check_cores(const RunConfig& config, const FactKeeper& facts) {
  double cpu = 0;
  double works = 1;
  Nanos end = 0;
  const auto add = [&](Nanos ns, Nanos until) {
    cpu += static_cast<double>(ns);
    works += 1;
    end = std::max(end, until);
  };
  for (const auto& [index, rank] : facts.ranks) {
    for (const auto& [worker, spans] : rank.workers) {
      for (const Span& span : spans) add(span.cpu, span.end);
    }
    for (const StepEvents& step : rank.steps) {
      for (const Interval& interval : {step.send, step.receive, step.pin, step.copy, step.launch}) {
        if (interval.ran()) add(interval.cpu, interval.end);
      }
    }
  }
  EXPECT_LE(cpu, config.declared.cores * static_cast<double>(end) + works);
}

TEST(ModelRules, HoldsInRandomPipelines) {
  for (std::int64_t i = 0; i < times(1500); ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const Pipeline pipeline = random_pipeline(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + pipeline.text());
    FactKeeper facts;
    run_pipeline(pipeline.config, &facts);
    for (const auto& [index, rank] : facts.ranks) {
      SCOPED_TRACE("rank " + std::to_string(index));
      Observed(pipeline.config, rank).check();
    }
    check_cores(pipeline.config, facts);
    if (HasFailure()) return;
  }
}

TEST(ModelRules, CountsReadyQueueOverWindow) {
  for (const char* decode : {"1ms", "9ms", "lognormal:8ms:0.8"}) {
    const Pipeline pipeline = resolve_pipeline({{"num-workers", "4"},
                                                {"batch-size", "4"},
                                                {"cost", std::string("decode=") + decode},
                                                {"compute", "9ms"},
                                                {"cores", "8"},
                                                {"warmup", "100"},
                                                {"steps", "4000"}});
    FactKeeper facts;
    const RunRecord record = run_pipeline(pipeline.config, &facts);
    const RankRecord& rank = record.ranks[0];
    Nanos waited = 0;
    double ready = 0;  // batches x ns
    for (const StepEvents& step : facts.ranks[0].steps) {
      if (!step.warmup) waited += step.take - step.ask;
      const Nanos from = std::clamp(step.deliverable, rank.window_begin, rank.window_end);
      const Nanos until = std::clamp(step.take, rank.window_begin, rank.window_end);
      ready += static_cast<double>(until - from);
    }
    const QueueStats& queue = rank.queues.at(0);
    EXPECT_EQ(queue.name, "ready");
    EXPECT_EQ(queue.capacity, 8);
    EXPECT_EQ(queue.get_wait, waited);
    EXPECT_NEAR(queue.mean_occupancy, ready / static_cast<double>(rank.window()), 0.02);
    EXPECT_LE(queue.max_occupancy, 8);
  }
}

// One rank with two epochs: the trainer awaits the workers of the first one before the second one.
TEST(ModelRules, AwaitsLateWorkersBeforeRestart) {
  // The first epoch's only batch is delivered at 11 ms; worker 1 is up only at 50 ms.
  const Pipeline pipeline = resolve_pipeline({{"num-workers", "2"},
                                              {"batch-size", "1"},
                                              {"samples", "1"},
                                              {"epochs", "2"},
                                              {"cost", "decode=10ms"},
                                              {"cost", "startup=1ms"},
                                              {"inject", "startup=+49ms@worker=1"},
                                              {"compute", "2ms"},
                                              {"warmup", "0"},
                                              {"cores", "8"}});
  FactKeeper facts;
  run_pipeline(pipeline.config, &facts);
  const std::vector<StepEvents>& steps = facts.ranks[0].steps;
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].deliverable, 11 * kMillisecond);
  EXPECT_EQ(steps[1].epoch_dispatch, 50 * kMillisecond);
  EXPECT_EQ(steps[1].deliverable, 61 * kMillisecond);
}

}  // namespace
}  // namespace loaderscope
