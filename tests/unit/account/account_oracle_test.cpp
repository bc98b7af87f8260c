// Folded while recording == recomputed from everything, row by row.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "unit/account/oracle.h"
#include "unit/account/random_pipelines.h"

namespace loaderscope {
namespace {

std::string differences(const std::vector<RankRecord>& ranks,
                        const std::vector<std::vector<OracleRow>>& expected) {
  std::string text;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<StepRow> rows = collect_rows(ranks[rank]);
    const std::size_t steps = rank < expected.size() ? expected[rank].size() : 0;
    if (rows.size() != steps) return "another number of steps";
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::string here = difference(rows[k], expected[rank][k]);
      if (!here.empty()) text += "rank " + std::to_string(rank) + " " + here;
    }
  }
  return text;
}

// Every ns booked to production has a why, and nothing else has one.
void expect_whys(const StepRow& row, Nanos contention_of_making, const std::string& text) {
  Nanos production = contention_of_making;
  for (const Cause cause : {Cause::read, Cause::decode, Cause::augment, Cause::collate,
                            Cause::opaque, Cause::prefetch, Cause::startup}) {
    production += row.stall[cause];
  }
  ASSERT_EQ(std::accumulate(row.why.begin(), row.why.end(), Nanos{0}), production) << text;
}

TEST(AccountOracle, AgreesOnRandomPipelines) {
  for (std::int64_t i = 0; i < times(4000); ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    PipelineLimits limits;
    limits.on_device = i % 2 == 0;
    const Pipeline pipeline = random_pipeline(seed, limits);
    const RunConfig& config = pipeline.config;
    FactKeeper facts;
    const RunRecord record = run_pipeline(config, &facts);
    const bool in_order = config.loader.in_order || config.loader.executor == Executor::inline_;
    const std::string place = "seed " + std::to_string(seed) + "\n" + pipeline.text();
    const auto expected = recompute_account(facts, in_order, config.trainer.sync_ranks);
    ASSERT_EQ(differences(record.ranks, expected), "") << place;
    for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
      const std::vector<StepRow> rows = collect_rows(record.ranks[rank]);
      for (std::size_t k = 0; k < rows.size(); ++k)
        expect_whys(rows[k], expected[rank][k].contention_of_making, place);
    }
  }
}

// Facts as some engine might report them: workers that leave gaps, rest and restart as they please,
// trainers that do not ask. The order of causality is kept, nothing else.
class RandomFacts {
 public:
  explicit RandomFacts(std::uint64_t seed) : dice_(seed) {
    options_.ranks = static_cast<std::int32_t>(dice_.between(1, 3));
    options_.workers = static_cast<std::int32_t>(dice_.between(1, 3));
    options_.in_order = !dice_.chance(4);
    options_.sync_ranks = dice_.chance(2);
    inline_ = dice_.chance(5);
    on_device_ = dice_.chance(2);
    makes_in_step_ = !on_device_ && dice_.chance(2);
    longest_ = dice_.pick<std::int64_t>({3, 20, 1000});
    for (std::int32_t rank = 0; rank < options_.ranks; ++rank) ranks_.push_back({});
    make_steps();
    for (Rank& rank : ranks_) make_workers(rank);
  }

  // The times of the device come from a clock of its own.
  void use_wrong_device_clock() {
    for (Rank& rank : ranks_) {
      for (StepEvents& step : rank.steps) {
        for (Nanos* t :
             {&step.copy.begin, &step.copy.end, &step.compute.begin, &step.compute.end}) {
          if (*t != kNever && dice_.chance(2)) *t += some() - some();
        }
        for (std::size_t i = 0; i < step.made_count; ++i)
          for (Nanos* t : {&step.made.at(i).at.begin, &step.made.at(i).at.end})
            if (dice_.chance(2)) *t += some() - some();
      }
    }
  }

  FoldOptions options() const { return options_; }

  // Reports the facts to `folder` in an order that it accepts. If `early`, the rank that the others
  // wait for is reported before the steps, and any rank may be the first.
  void set_listener(Folder& folder, bool early = false) {
    for (std::int32_t r = 0; r < options_.ranks; ++r)
      folder.first_ask(r, ranks_[index(r)].first_ask);
    for (std::size_t k = 0; k < kSteps; ++k) {
      if (early) folder.all_wait_for(last_ready(k));
      for (std::int32_t i = 0; i < options_.ranks; ++i) {
        const std::int32_t r = early ? (i + static_cast<std::int32_t>(k)) % options_.ranks : i;
        Rank& rank = ranks_[index(r)];
        report_spans(folder, r, k, rank.steps[k].compute.end + some());
        for (; rank.marked < kSteps && rank.marked <= k + 4; ++rank.marked) {
          const StepEvents& later = rank.steps[rank.marked];
          folder.deliverable(r, later.batch, later.deliverable);
        }
        folder.step(r, rank.steps[k]);
      }
    }
  }

 private:
  static constexpr std::size_t kSteps = 25;

  struct Rank {
    Nanos first_ask = 0;
    std::vector<StepEvents> steps;
    std::vector<std::vector<Span>> workers;
    std::vector<std::size_t> reported;  // spans by worker
    std::size_t marked = 0;
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  Nanos some() { return dice_.chance(3) ? 0 : dice_.between(0, longest_); }

  std::int32_t last_ready(std::size_t k) const {
    const auto last = std::max_element(
        ranks_.begin(), ranks_.end(),
        [k](const auto& a, const auto& b) { return a.steps[k].ready < b.steps[k].ready; });
    return static_cast<std::int32_t>(last - ranks_.begin());
  }

  Interval next_interval(Nanos& at) {
    Interval interval;
    interval.begin = at + some();
    interval.end = at = interval.begin + some();
    interval.queued = dice_.between(0, interval.wall());
    interval.cpu = interval.wall() - interval.queued;
    return interval;
  }

  void make_steps() {
    for (Rank& rank : ranks_) rank.first_ask = some();
    std::vector<std::int64_t> batches(kSteps);
    std::iota(batches.begin(), batches.end(), 0);
    for (std::size_t i = 0; i + 1 < kSteps && !options_.in_order; ++i) {
      if (dice_.chance(3)) std::swap(batches[i], batches[i + 1]);
    }
    for (std::size_t k = 0; k < kSteps; ++k) {
      Nanos barrier = 0;
      for (Rank& rank : ranks_) {
        rank.steps.push_back(make_step(rank, k, batches[k]));
        barrier = std::max(barrier, rank.steps[k].ready);
      }
      for (Rank& rank : ranks_) {
        StepEvents& step = rank.steps[k];
        step.compute.begin = options_.sync_ranks ? barrier : step.ready;
        step.compute.end = step.compute.begin + some();
      }
    }
  }

  StepEvents make_step(const Rank& rank, std::size_t k, std::int64_t batch) {
    const Nanos idle_begin = k == 0 ? rank.first_ask : rank.steps[k - 1].compute.end;
    StepEvents step;
    step.step = static_cast<std::int64_t>(k);
    step.batch = batch;
    step.made_by_trainer = inline_;
    step.first_of_epoch = k == 0 || dice_.chance(6);
    step.worker = static_cast<std::int32_t>(dice_.between(0, options_.workers - 1));
    step.worker_idle = some();
    Nanos at = std::max<Nanos>(0, idle_begin - some()) + some();
    step.epoch_dispatch = at;
    step.finished = at += some() + some();
    if (dice_.chance(2)) step.send = next_interval(at);
    if (dice_.chance(2)) step.receive = next_interval(at);
    if (dice_.chance(2)) {
      step.pin = next_interval(at);
    } else {
      step.receive = {};
    }
    if (on_device_ && (k == 0 || !dice_.chance(4)))
      make_on_device(step, at, k == 0 ? 0 : rank.steps.back().deliverable);
    step.deliverable = at;
    step.ask = std::max<Nanos>(0, at - some()) + some();
    step.ask_queued = dice_.chance(2) ? std::min(step.ask, some()) : 0;
    at = std::max(at, step.ask);
    step.take_queued = dice_.chance(2) ? some() : 0;
    if (!step.pin.ran() && !step.is_made_on_device() && dice_.chance(2))
      step.receive = next_interval(at);
    step.take = at += some();
    const Nanos taken = at;
    if (dice_.chance(2)) step.copy = next_interval(at);
    at = dice_.chance(2) ? at : taken;  // an asynchronous copy overlaps the launch
    if (dice_.chance(2)) step.launch = next_interval(at);
    step.submitted = at;
    if (makes_in_step_ && !dice_.chance(4)) make_in_step(step);
    at = std::max({at, step.copy.ran() ? step.copy.end : at, step.made_end()});
    step.ready = std::max(idle_begin, at + some());
    return step;
  }

  // The device thread has the batch at `at`, and has submitted the batch before at `before`.
  void make_on_device(StepEvents& step, Nanos& at, Nanos before) {
    step.handed = at;
    step.slot_wait = some();
    step.made_count = static_cast<std::uint8_t>(dice_.between(1, kMaxDeviceWork));
    at = std::max(at, before);
    Nanos end = at;
    for (std::size_t i = 0; i < step.made_count; ++i) {
      DeviceWork& task = step.made.at(i);
      task.stage = dice_.pick<Stage>({Stage::h2d, Stage::gpu_decode, Stage::gpu_augment});
      task.lane = dice_.pick<Lane>({Lane::copy, Lane::decode, Lane::work});
      task.submit = next_interval(at);
      if (dice_.chance(2)) end = at;
      end = std::max(end, task.submit.begin);
      task.at = next_interval(end);
    }
    at += some();
  }

  // The trainer has the batch, and submits the tasks itself.
  void make_in_step(StepEvents& step) {
    step.submitted_by_trainer = true;
    step.handed = step.submitted = step.take;
    step.made_count = static_cast<std::uint8_t>(dice_.between(1, kMaxDeviceWork));
    Nanos at = step.copy.ran() ? step.copy.end : step.take;
    for (std::size_t i = 0; i < step.made_count; ++i) {
      DeviceWork& task = step.made.at(i);
      task.stage = dice_.pick<Stage>({Stage::gpu_decode, Stage::gpu_augment});
      task.lane = Lane::compute;
      task.at = next_interval(at);
      task.at.queued = 0;
      task.submit = {task.at.begin, task.at.begin, 0, 0};
    }
  }

  void make_workers(Rank& rank) {
    rank.reported.resize(index(options_.workers));
    const Nanos end = rank.steps.back().compute.end;
    for (std::int32_t worker = 0; worker < options_.workers; ++worker) {
      std::vector<Span>& spans = rank.workers.emplace_back();
      Nanos at = some() + some();
      while (at < end || spans.empty()) {
        if (dice_.chance(5)) at += some();
        Span span;
        span.begin = at;
        span.end = at = at + some();
        span.stage = dice_.pick<Stage>({Stage::read, Stage::read_decompress, Stage::decode,
                                        Stage::augment, Stage::collate, Stage::opaque, Stage::idle,
                                        Stage::startup, Stage::startup_parent});
        span.queued = dice_.between(0, span.end - span.begin);
        spans.push_back(span);
        if (longest_ > 100 && at == span.begin) at += 1;
      }
    }
  }

  void report_spans(Folder& folder, std::int32_t r, std::size_t k, Nanos until) {
    Rank& rank = ranks_[index(r)];
    for (std::int32_t worker = 0; worker < options_.workers; ++worker) {
      const std::vector<Span>& spans = rank.workers[index(worker)];
      std::size_t& reported = rank.reported[index(worker)];
      for (; reported < spans.size() && spans[reported].begin < until; ++reported) {
        Span span = spans[reported];
        if (span.stage != Stage::idle && span.stage != Stage::startup &&
            span.stage != Stage::startup_parent) {
          const std::size_t later =
              std::min(k + static_cast<std::size_t>(dice_.between(0, 5)), kSteps - 1);
          span.batch = rank.steps[later].batch;
        }
        folder.span(r, worker, span);
      }
    }
  }

  Dice dice_;
  FoldOptions options_;
  bool inline_ = false;
  bool on_device_ = false;      // the device makes most batches
  bool makes_in_step_ = false;  // the trainer lets the device make most batches, once it has them
  Nanos longest_ = 1;
  std::vector<Rank> ranks_;
};

TEST(AccountOracle, AgreesOnRandomFacts) {
  for (std::int64_t i = 0; i < times(4000); ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    RandomFacts random(seed);
    FactKeeper facts;
    FoldOptions options = random.options();
    options.observer = &facts;
    Folder folder(options);
    random.set_listener(folder, i % 2 == 0);
    const std::vector<RankRecord> ranks = folder.finish();
    const auto expected = recompute_account(facts, options.in_order, options.sync_ranks);
    ASSERT_EQ(differences(ranks, expected), "") << "seed " << seed;
    for (const RankRecord& rank : ranks) {
      for (const StepRow& row : collect_rows(rank)) {
        ASSERT_EQ(std::accumulate(row.stall.begin(), row.stall.end(), Nanos{0}), row.idle())
            << "seed " << seed;
        ASSERT_EQ(row.clamped, 0) << "seed " << seed;
      }
    }
  }
}

TEST(AccountOracle, ClosesWhateverTheDevicesClockSays) {
  Nanos clamped = 0;
  for (std::int64_t i = 0; i < times(2000); ++i) {
    RandomFacts random(static_cast<std::uint64_t>(i));
    random.use_wrong_device_clock();
    Folder folder(random.options());
    random.set_listener(folder);
    for (const RankRecord& rank : folder.finish()) {
      Nanos end = rank.first_ask;
      for (const StepRow& row : collect_rows(rank)) {
        ASSERT_EQ(row.idle_begin, end) << "seed " << i;
        ASSERT_GE(row.compute(), 0) << "seed " << i;
        ASSERT_EQ(std::accumulate(row.stall.begin(), row.stall.end(), Nanos{0}), row.idle())
            << "seed " << i;
        ASSERT_GE(*std::min_element(row.stall.begin(), row.stall.end()), 0) << "seed " << i;
        ASSERT_GE(row.clamped, 0) << "seed " << i;
        clamped += row.clamped;
        end = row.compute_end;
      }
    }
  }
  EXPECT_GT(clamped, 0);
}

}  // namespace
}  // namespace loaderscope
