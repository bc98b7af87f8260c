// Pipelines without shared resources are a recurrence: every event of step k is the latest of a
// few earlier events plus a cost. Random pipelines of that kind must follow it, step by step, to
// the ns.
#include <algorithm>
#include <random>

#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

constexpr std::int64_t kSteps = 150;

// The values of one event over the steps; before the first step everything was over at 0.
class Times {
 public:
  Nanos& operator[](std::int64_t step) {
    if (step < 0) return zero_ = 0;
    if (step >= std::ssize(values_)) values_.resize(static_cast<std::size_t>(step) + 1);
    return values_[static_cast<std::size_t>(step)];
  }

 private:
  std::vector<Nanos> values_;
  Nanos zero_ = 0;
};

struct RankTimes {
  Times dispatched, finished, sent, delivered, ask, take, copied, launched, computed;
  std::vector<Nanos> worker_free;
  std::vector<Nanos> feeder_free;
  Nanos all_started = 0;  // the workers of the epoch
};

class Recurrence {
 public:
  explicit Recurrence(const RunConfig& config)
      : c_(config),
        window_(config.loader.task == TaskShape::sample
                    ? config.loader.prefetch_depth.value
                    : config.loader.prefetch_factor * config.loader.num_workers),
        samples_(config.data.samples > 0 ? (config.data.samples - 1) / config.trainer.ranks + 1
                                         : 0),
        batches_(config.loader.drop_last
                     ? samples_ / config.loader.batch_size
                     : (samples_ + config.loader.batch_size - 1) / config.loader.batch_size),
        ranks_(static_cast<std::size_t>(config.trainer.ranks)) {
    for (RankTimes& rank : ranks_) {
      rank.worker_free.resize(static_cast<std::size_t>(c_.loader.num_workers));
      rank.feeder_free.resize(static_cast<std::size_t>(c_.loader.num_workers));
    }
  }

  // Returns the time at which each rank begins to compute step k.
  std::vector<Nanos> step(std::int64_t k) {
    std::vector<Nanos> begins;
    for (std::size_t r = 0; r < ranks_.size(); ++r) begins.push_back(ready(r, k));
    if (c_.trainer.sync_ranks) {
      std::fill(begins.begin(), begins.end(), *std::max_element(begins.begin(), begins.end()));
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      ranks_[r].computed[k] = begins[r] + static_cast<Nanos>(c_.trainer.compute.value.mean);
    }
    return begins;
  }

 private:
  Nanos cost(Stage stage, std::int64_t epoch = 0, std::int64_t index = 0) const {
    const Cost* cost = c_.declared_cost(stage);
    return cost ? cost->draw(uniform_draw(0, epoch, index, stage), 0) : 0;
  }

  std::int64_t epoch_number(std::int64_t k) const { return batches_ > 0 ? k / batches_ : 0; }
  std::int64_t place_in_epoch(std::int64_t k) const { return batches_ > 0 ? k % batches_ : k; }

  // The workers start one after the other, and the first tasks are dispatched.
  void begin_epoch(RankTimes& t, std::int64_t k) {
    Nanos dispatched = t.ask[k];
    if (k == 0 || !c_.loader.persistent_workers) {
      const Nanos begin = std::max(t.ask[k], t.all_started);
      const Nanos parent = cost(Stage::startup_parent);
      for (std::int64_t w = 0; w < c_.loader.num_workers; ++w) {
        Nanos up = begin + (w + 1) * parent + cost(Stage::startup);
        for (const Injection& injection : c_.declared.inject.value)
          up += injection.worker == w ? injection.extra : 0;
        t.worker_free[static_cast<std::size_t>(w)] = up;
        t.all_started = std::max(t.all_started, up);
      }
      const bool has_server = c_.loader.executor == Executor::processes &&
                              c_.loader.mp_context == StartMethod::forkserver;
      dispatched = has_server ? begin : begin + c_.loader.num_workers * parent;
    }
    for (std::int64_t i = 0; i < window_; ++i) t.dispatched[k + i] = dispatched;
  }

  Nanos finished(std::size_t r, std::int64_t k) {
    RankTimes& t = ranks_[r];
    if (place_in_epoch(k) >= window_) t.dispatched[k] = t.take[k - window_];
    const std::int64_t first = place_in_epoch(k) * c_.loader.batch_size;
    const std::int64_t end = samples_ > 0 ? std::min(first + c_.loader.batch_size, samples_)
                                          : first + c_.loader.batch_size;
    const auto its_worker = static_cast<std::size_t>(place_in_epoch(k) % c_.loader.num_workers);
    Nanos last = 0;
    for (std::int64_t s = first; s < end; ++s) {
      std::int64_t sample = s * c_.trainer.ranks + static_cast<std::int64_t>(r);
      if (c_.data.samples > 0) sample %= c_.data.samples;
      Nanos& free = c_.loader.task == TaskShape::sample
                        ? *std::min_element(t.worker_free.begin(), t.worker_free.end())
                        : t.worker_free[its_worker];
      free = std::max(free, t.dispatched[k]) + cost(Stage::read, epoch_number(k), sample) +
             cost(Stage::decode, epoch_number(k), sample);
      if (c_.loader.task == TaskShape::batch && s + 1 == end) free += cost(Stage::collate);
      last = std::max(last, free);
    }
    return last;
  }

  Nanos ready(std::size_t r, std::int64_t k) {
    RankTimes& t = ranks_[r];
    const bool pin_thread = c_.loader.memory == MemoryMode::pin_thread;
    const Nanos receive = cost(Stage::transport_recv), copy = cost(Stage::h2d);
    t.ask[k] = std::max(t.launched[k - 1], t.computed[k - c_.trainer.in_flight]);
    if (place_in_epoch(k) == 0) begin_epoch(t, k);
    t.finished[k] = t.sent[k] = finished(r, k);
    if (c_.declared_cost(Stage::transport)) {
      Nanos& feeder =
          t.feeder_free[static_cast<std::size_t>(place_in_epoch(k) % c_.loader.num_workers)];
      t.sent[k] = feeder = std::max(t.finished[k], feeder) + cost(Stage::transport);
    }
    t.delivered[k] = t.sent[k];
    if (pin_thread)
      t.delivered[k] = std::max(t.sent[k], t.delivered[k - 1]) + receive + cost(Stage::pin);
    // The trainer that starts workers itself is away until it has dispatched their first tasks.
    const Nanos there = std::max(t.ask[k], place_in_epoch(k) == 0 ? t.dispatched[k] : 0);
    t.take[k] = std::max(there, t.delivered[k]) + (pin_thread ? 0 : receive);
    const Nanos queue_free =
        c_.trainer.copy == CopyMode::stream ? t.copied[k - 1] : t.computed[k - 1];
    t.copied[k] = copy > 0 ? std::max(t.take[k], queue_free) + copy : t.take[k];
    const bool trainer_waits =
        c_.trainer.copy == CopyMode::sync || c_.loader.memory == MemoryMode::pageable;
    t.launched[k] = (trainer_waits ? t.copied[k] : t.take[k]) + cost(Stage::launch);
    return std::max({t.launched[k], t.copied[k], t.computed[k - 1]});
  }

  const RunConfig& c_;
  std::int64_t window_;
  std::int64_t samples_, batches_;  // per epoch and rank; 0 = endless
  std::vector<RankTimes> ranks_;
};

class RandomSettings {
 public:
  explicit RandomSettings(std::uint64_t seed) : random_(seed) {}

  std::string draw() {
    const bool sample_tasks = random_() % 3 == 0;
    // A pin thread and a receiving trainer take batches as they come. The recurrence knows their
    // order only when there is one worker.
    const bool one_worker = !sample_tasks && random_() % 3 == 0;
    text_ = "warmup=0 steps=150";
    add("cost=decode=",
        {"uniform:0ms:20ms:sleep", "exponential:8ms:sleep", "lognormal:8ms:1:sleep"});
    add("cost=read=", {"0", "uniform:1ms:9ms"});
    add("batch=", {"1", "2", "5"});
    add("ranks=", {"1", "2", "3"});
    add("sync-ranks=", {"true", "false"});
    add("in-flight=", {"1", "2", "3"});
    add("copy=", {"sync", "async", "stream"});
    add_ms("compute=", 15);
    add_ms("cost=launch=", 4);
    add_ms("cost=h2d=", 6);
    if (sample_tasks) {
      // Collating has no cost: the recurrence does not know which worker would do it.
      add("task=sample workers=", {"2", "3", "8"});
      add("prefetch-depth=", {"1", "2", "5"});
    } else {
      add("workers=", one_worker ? Words{"1"} : Words{"2", "3", "7"});
      add("prefetch=", {"1", "2", "4"});
      add_ms("cost=collate=", 5);
      add_ms("cost=transport=", 6);
    }
    add("memory=", one_worker ? Words{"pinned-slots", "pageable", "pin-thread"}
                              : Words{"pinned-slots", "pageable"});
    if (one_worker) {
      add_ms("cost=transport.recv=", 5);
      add_ms("cost=pin=", 5);
    }
    if (random_() % 2 == 0) add_epochs();
    return text_;
  }

 private:
  using Words = std::vector<const char*>;

  void add(const std::string& key, const Words& words) {
    text_ += " " + key + words[random_() % words.size()];
  }
  void add_ms(const std::string& key, unsigned most) {
    text_ += " " + key + std::to_string(random_() % (most * 1000)) + "us";
  }

  void add_epochs() {
    add("samples=", {"15", "50", "101"});
    add("drop-last=", {"true", "false"});
    add("persistent-workers=", {"true", "false"});
    add("executor=", {"processes mp-context=forkserver", "processes mp-context=spawn", "threads"});
    add_ms("cost=startup=", 60);
    add_ms("cost=startup.parent=", 10);
    add("inject=startup=+", {"0ms@worker=0", "25ms@worker=0", "200ms@worker=0"});
  }

  std::mt19937_64 random_;
  std::string text_;
};

TEST(KnownAnswerRecurrence, MatchesModelInRandomPipelines) {
  RandomSettings settings_at_random(20'240'229);
  for (int i = 0; i < 600; ++i) {
    const std::string settings = settings_at_random.draw();
    SCOPED_TRACE(settings);
    const RunConfig config = case_config(settings);
    const RunRecord record = run(settings);
    Recurrence recurrence(config);
    std::vector<std::vector<Nanos>> expected(record.ranks.size()), found(record.ranks.size());
    for (std::int64_t k = 0; k < kSteps; ++k) {
      const std::vector<Nanos> begins = recurrence.step(k);
      for (std::size_t r = 0; r < begins.size(); ++r) expected[r].push_back(begins[r]);
    }
    for (std::size_t r = 0; r < record.ranks.size(); ++r) {
      record.ranks[r].rows.for_each(
          [&](const StepRow& row) { found[r].push_back(row.compute_begin); });
    }
    ASSERT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace loaderscope::known_answer
