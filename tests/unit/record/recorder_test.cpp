// The recorder with real threads. Run under the thread sanitizer, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <variant>
#include <vector>

#include "record/recorder.h"
#include "unit/account/oracle.h"
#include "unit/account/random_pipelines.h"

namespace loaderscope {
namespace {

// The facts of a model run, reported again by real threads: one per worker, one per trainer, one
// that drains. A trainer reports a step as soon as the workers have reported the facts that the
// step depends on, as a queue would make sure.
class Replay {
 public:
  Replay(const FactKeeper& facts, const FoldOptions& options) : options_(options) {
    for (const auto& [rank, kept] : facts.ranks) {
      ranks_.push_back(std::make_unique<Rank>());
      plan(*ranks_.back(), kept, options.workers);
    }
  }

  std::vector<RankRecord> run(std::size_t ring_capacity) {
    Recorder recorder(options_, ring_capacity);
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      Rank& rank = *ranks_[r];
      for (std::size_t w = 0; w < rank.workers.size(); ++w) {
        ThreadLog& log =
            recorder.add_thread(static_cast<std::int32_t>(r), static_cast<std::int32_t>(w));
        threads.emplace_back([&rank, w, &log] { report_worker(rank, w, log); });
      }
    }
    std::atomic<int> trainers = static_cast<int>(ranks_.size());
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      threads.emplace_back([this, r, &recorder, &trainers] {
        report_steps(*ranks_[r], static_cast<std::int32_t>(r), recorder);
        --trainers;
      });
    }
    while (trainers > 0) recorder.drain();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(recorder.lost(), 0);
    return recorder.finish();
  }

 private:
  struct Mark {
    std::int64_t batch;
    Nanos at;
  };
  using Fact = std::variant<Span, Mark>;

  struct Rank {
    Nanos first_ask = 0;
    std::vector<std::vector<Fact>> workers;
    std::vector<StepEvents> steps;
    // The number of facts of each worker that must be reported before each step.
    std::vector<std::vector<std::size_t>> needed;
    std::unique_ptr<std::atomic<std::size_t>[]> reported;
  };

  static Nanos begin_time(const Fact& fact) {
    if (const Span* span = std::get_if<Span>(&fact)) return span->begin;
    return std::get<Mark>(fact).at;
  }

  // Before `step`: the spans of its batch, what its worker did until it was finished, and every
  // mark of a batch that was deliverable earlier.
  static bool is_needed(const Fact& fact, std::size_t worker, const StepEvents& step) {
    if (const Span* span = std::get_if<Span>(&fact)) {
      const bool is_maker = static_cast<std::size_t>(step.worker) == worker;
      return span->batch == step.batch || (is_maker && span->begin < step.finished);
    }
    return std::get<Mark>(fact).at <= step.deliverable;
  }

  static void plan(Rank& rank, const FactKeeper::Rank& kept, std::int32_t workers) {
    rank.first_ask = kept.first_ask;
    rank.steps = kept.steps;
    rank.workers.resize(static_cast<std::size_t>(workers));
    rank.reported = std::make_unique<std::atomic<std::size_t>[]>(rank.workers.size());
    for (const auto& [worker, spans] : kept.workers) {
      auto& facts = rank.workers[static_cast<std::size_t>(worker)];
      facts.insert(facts.end(), spans.begin(), spans.end());
    }
    for (const auto& [batch, at] : kept.deliverable) {
      rank.workers[static_cast<std::size_t>(batch) % rank.workers.size()].push_back(
          Mark{batch, at});
    }
    for (auto& facts : rank.workers) {
      std::stable_sort(facts.begin(), facts.end(),
                       [](const Fact& a, const Fact& b) { return begin_time(a) < begin_time(b); });
    }
    for (const StepEvents& step : rank.steps) {
      std::vector<std::size_t>& needed = rank.needed.emplace_back();
      for (std::size_t w = 0; w < rank.workers.size(); ++w) {
        const auto& facts = rank.workers[w];
        std::size_t count = facts.size();
        while (count > 0 && !is_needed(facts[count - 1], w, step)) --count;
        needed.push_back(count);
      }
    }
  }

  static void report_worker(Rank& rank, std::size_t w, ThreadLog& log) {
    for (const Fact& fact : rank.workers[w]) {
      if (const Span* span = std::get_if<Span>(&fact)) {
        log.span(*span);
      } else {
        log.deliverable(std::get<Mark>(fact).batch, std::get<Mark>(fact).at);
      }
      rank.reported[w].fetch_add(1, std::memory_order_release);
    }
  }

  static void report_steps(Rank& rank, std::int32_t r, Recorder& recorder) {
    recorder.first_ask(r, rank.first_ask);
    for (std::size_t k = 0; k < rank.steps.size(); ++k) {
      for (std::size_t w = 0; w < rank.workers.size(); ++w) {
        while (rank.reported[w].load(std::memory_order_acquire) < rank.needed[k][w])
          std::this_thread::yield();
      }
      recorder.step(r, rank.steps[k]);
    }
  }

  FoldOptions options_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

TEST(Recorder, FoldsThreadsToRowsOfOneThread) {
  PipelineLimits limits;
  limits.most_steps = 60;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Pipeline pipeline = random_pipeline(seed, limits);
    const RunConfig& config = pipeline.config;
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + pipeline.text());
    FactKeeper facts;
    const RunRecord expected = run_pipeline(config, &facts);
    FoldOptions options;
    options.ranks = static_cast<std::int32_t>(config.trainer.ranks);
    options.workers =
        static_cast<std::int32_t>(std::max<std::int64_t>(config.loader.num_workers, 1));
    options.in_order = config.loader.in_order || config.loader.num_workers == 0;
    options.sync_ranks = config.trainer.sync_ranks;
    const std::vector<RankRecord> ranks = Replay(facts, options).run(1 << 14);
    ASSERT_EQ(ranks.size(), expected.ranks.size());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      ASSERT_EQ(collect_rows(ranks[r]), collect_rows(expected.ranks[r])) << "rank " << r;
      ASSERT_EQ(ranks[r].samples, expected.ranks[r].samples);
      ASSERT_EQ(ranks[r].stages[Stage::decode].count,
                expected.ranks[r].stages[Stage::decode].count);
      ASSERT_EQ(ranks[r].stages[Stage::decode].wall, expected.ranks[r].stages[Stage::decode].wall);
    }
  }
}

Span span_at(Nanos begin) {
  Span span;
  span.begin = begin;
  span.end = begin + 1;
  span.stage = Stage::idle;
  return span;
}

FoldOptions recorder_options(std::int32_t workers) {
  FoldOptions options;
  options.workers = workers;
  return options;
}

// Spans that came through are counted as idle spans of the whole run.
std::int64_t folded_spans(Recorder& recorder, Nanos end) {
  recorder.first_ask(0, 0);
  StepEvents step;
  step.ready = step.take = step.ask = step.finished = step.deliverable = end;
  step.compute = {end, end, 0, 0};
  recorder.step(0, step);
  return recorder.finish()[0].stages[Stage::idle].count;
}

TEST(Recorder, LosesNothingThatIsDrainedInTime) {
  constexpr std::int32_t kWorkers = 4;
  constexpr std::int64_t kSpans = 20'000;
  constexpr std::size_t kCapacity = 256;
  Recorder recorder(recorder_options(kWorkers), kCapacity);
  recorder.first_ask(0, 0);
  std::atomic<std::int64_t> drains = 0;
  std::atomic<int> writing = kWorkers;
  std::vector<std::thread> threads;
  for (std::int32_t worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&, &log = recorder.add_thread(0, worker)] {
      for (std::int64_t i = 0; i < kSpans; ++i) {
        // A ringful, then wait until a drain that began later is over.
        const std::int64_t seen = drains;
        while (i > 0 && i % static_cast<std::int64_t>(kCapacity) == 0 && drains < seen + 2)
          std::this_thread::yield();
        log.span(span_at(i));
      }
      --writing;
    });
  }
  while (writing > 0) {
    recorder.drain();
    ++drains;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recorder.lost(), 0);
  EXPECT_EQ(folded_spans(recorder, kSpans + 1), kWorkers * kSpans);
}

TEST(Recorder, CountsWhatItLoses) {
  constexpr std::int32_t kWorkers = 3;
  constexpr std::int64_t kSpans = 1000;
  constexpr std::int64_t kCapacity = 128;
  Recorder recorder(recorder_options(kWorkers), kCapacity);
  std::vector<std::thread> threads;
  for (std::int32_t worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&log = recorder.add_thread(0, worker)] {
      for (std::int64_t i = 0; i < kSpans; ++i) log.span(span_at(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recorder.lost(), kWorkers * (kSpans - kCapacity));
  EXPECT_EQ(folded_spans(recorder, kSpans + 1), kWorkers * kCapacity);
}

// Writers do not wait for the reader: lost and folded spans add up to all written spans.
TEST(Recorder, LosesOrFolds) {
  constexpr std::int32_t kWorkers = 3;
  constexpr std::int64_t kSpans = 30'000;
  Recorder recorder(recorder_options(kWorkers), 16);
  recorder.first_ask(0, 0);
  std::atomic<int> writing = kWorkers;
  std::vector<std::thread> threads;
  for (std::int32_t worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([&, &log = recorder.add_thread(0, worker)] {
      for (std::int64_t i = 0; i < kSpans; ++i) log.span(span_at(i));
      --writing;
    });
  }
  while (writing > 0) recorder.drain();
  for (std::thread& thread : threads) thread.join();
  const std::int64_t lost = recorder.lost();
  EXPECT_EQ(folded_spans(recorder, kSpans + 1) + lost, kWorkers * kSpans);
}

// A thread may begin in the middle of a run.
TEST(Recorder, AcceptsThreadsThatStartLater) {
  Recorder recorder(recorder_options(2), 16);
  recorder.add_thread(0, 0).span(span_at(0));
  recorder.drain();
  recorder.add_thread(0, 1).span(span_at(0));
  EXPECT_EQ(folded_spans(recorder, 10), 2);
}

}  // namespace
}  // namespace loaderscope
