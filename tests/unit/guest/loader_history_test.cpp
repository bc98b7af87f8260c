// Steps built from events: a job of known times, with the events that its processes would write.
#include "guest/host/training_process.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "loaderscope/analysis.h"
#include "unit/guest/made_page.h"

namespace loaderscope::guest {
namespace {

constexpr Nanos kMs = kMillisecond;

GuestEvent fact(GuestEventKind kind, std::int64_t batch, Nanos begin, Nanos end = 0) {
  GuestEvent fact;
  fact.kind = kind;
  fact.batch = batch;
  fact.begin = begin;
  fact.end = end;
  return fact;
}

class LoaderHistoryTest : public testing::Test {
 protected:
  LoaderHistoryTest() : trainer_(make_page()), worker_(make_page()) {
    given_.program.command.given = true;
    given_.measure.duration.value = 0;
    given_.measure.warmup.value = {0, 0};
    loader_.num_workers = 1;
    loader_.prefetch_factor = 2;
    loader_.batch_size = 4;
  }

  // One worker makes batch k in 10 ms from 10 k on; the trainer trains each for 2 ms.
  void epoch(std::int32_t iterator, Nanos begin, int batches) {
    trainer_process_.add_iterator(iterator, loader_);
    const auto report = [&](Page& page, GuestEvent event) {
      event.iterator = iterator;
      event.generation = generation_;
      PageRings(page).facts.push(event);
    };
    report(*trainer_, fact(GuestEventKind::epoch, -1, begin));
    Nanos asked = begin;
    for (int k = 0; k < batches; ++k) {
      const Nanos from = begin + 10 * kMs * k, done = from + 10 * kMs;
      report(*trainer_, fact(GuestEventKind::dispatched, k, from - rest_ + dispatched_after_));
      GuestEvent begun = fact(GuestEventKind::begun, k, from - rest_, from);
      begun.worker = worker_number_;
      report(*worker_, begun);
      span(iterator, k, from, done);
      GuestEvent finished = fact(GuestEventKind::finished, k, done);
      finished.count = 4;
      report(*worker_, finished);
      const Nanos there = done + sending_;
      Nanos taken = there + waking_;
      GuestEvent sent = fact(GuestEventKind::sent, k, done + kept_, there);
      sent.queued = sending_queued_;
      report(*worker_, sent);
      report(*trainer_, fact(GuestEventKind::ask, -1, asked));
      if (answering_ > 0) {
        GuestEvent answered = fact(GuestEventKind::answered, k, taken, taken + answering_);
        answered.count = 1;
        report(*trainer_, answered);
      }
      report(*trainer_, fact(GuestEventKind::received, k, taken, taken + answering_));
      taken += answering_;
      if (choosing_ > 0)
        report(*trainer_, fact(GuestEventKind::chosen, -1, taken, taken + choosing_));
      taken += choosing_;
      GuestEvent take = fact(GuestEventKind::take, k, taken);
      take.queued = waking_;
      take.count = gradients_;
      report(*trainer_, take);
      for (const GuestEvent& moved : moved_) {
        if (moved.batch == k) report(*trainer_, moved);
      }
      asked = taken + 2 * kMs;
    }
    report(*trainer_, fact(GuestEventKind::ask, -1, asked));
    report(*trainer_, fact(GuestEventKind::ended, -1, asked, asked + kMs));
  }

  void span(std::int32_t iterator, std::int64_t batch, Nanos begin, Nanos end) {
    span(*worker_, Stage::decode, iterator, batch, begin, end);
  }

  void span(Page& page, Stage stage, std::int32_t iterator, std::int64_t batch, Nanos begin,
            Nanos end) {
    ThreadLog::Entry entry;
    entry.span.begin = begin;
    entry.span.end = end;
    entry.span.cpu = end - begin;
    entry.span.sample = 0;
    entry.span.stage = stage;
    entry.span.batch = packed_batch(iterator, generation_, batch);
    PageRings(page).spans.push(entry);
  }

  // Reasons for the waits for five batches.
  PerWhy<Nanos> reasons() {
    epoch(0, kSecond, 5);
    read();
    PerWhy<Nanos> sum{};
    trainer_process_.measured()->finish().rows.for_each([&](const StepRow& row) {
      for (Why why : {Why::capacity, Why::latency}) sum[why] += row.why[why];
    });
    return sum;
  }

  void read() {
    EXPECT_TRUE(trainer_process_.read(*trainer_, {}));
    EXPECT_TRUE(trainer_process_.read(*worker_, {worker_number_, 0}));
    trainer_process_.advance(false);
  }

  RunConfig given_;
  LoaderFacts loader_;
  std::int64_t gradients_ = 1;
  std::int32_t generation_ = 0;  // epoch of the iterator
  std::int32_t worker_number_ = 0;
  Nanos rest_ = 0, dispatched_after_ = 0;   // idle time before a batch; its part without a task
  Nanos answering_ = 0;                     // time until a worker sends a batch's memory
  Nanos choosing_ = 0;                      // time of the sampler after each batch
  Nanos kept_ = 0;                          // delay of the feeder before it sends
  Nanos sending_ = 0, sending_queued_ = 0;  // transport of a batch; its run-queue delay
  Nanos waking_ = 0;                        // the trainer waits for a core before it takes a batch
  PagePointer trainer_, worker_;
  std::vector<GuestEvent> moved_;  // events of the program after it took a batch
  TrainingProcess trainer_process_{given_};
};

TEST_F(LoaderHistoryTest, BooksWaitsToWorkOfWorker) {
  epoch(0, kSecond, 5);
  read();
  ASSERT_NE(trainer_process_.measured(), nullptr);
  const RankRecord record = trainer_process_.measured()->finish();
  EXPECT_EQ(record.steps(), 5);
  EXPECT_EQ(record.samples, 20);
  // Making takes 5 x 10 ms, and training the last batch 2 ms more. Training hides 2 ms of the
  // making of each next batch.
  EXPECT_EQ(record.window(), 52 * kMs);
  Nanos compute = 0, decode = 0, other = 0;
  record.rows.for_each([&](const StepRow& row) {
    compute += row.compute();
    decode += row.stall[Cause::decode];
    other += row.stall[Cause::other];
  });
  EXPECT_EQ(compute, 10 * kMs);
  EXPECT_EQ(decode, 42 * kMs);
  EXPECT_EQ(other, 0);
}

TEST_F(LoaderHistoryTest, BooksSpansOfIteratorsAfterMillionsOfThem) {
  const std::int32_t last = std::numeric_limits<std::int32_t>::max() - 1;
  Nanos begin = kSecond, decode = 0;
  for (const std::int32_t iterator : {std::int32_t{1} << 19, std::int32_t{1} << 20, last}) {
    epoch(iterator, begin, 5);
    read();
    begin += kSecond;
  }
  const RankRecord record = trainer_process_.measured()->finish();
  record.rows.for_each([&](const StepRow& row) { decode += row.stall[Cause::decode]; });
  EXPECT_EQ(decode, 3 * 42 * kMs);
  EXPECT_EQ(trainer_process_.left_out(), 0);
}

TEST_F(LoaderHistoryTest, BooksSpansOfEpochsAfterManyThousandsOfThem) {
  Nanos begin = kSecond, decode = 0;
  constexpr int kEpochs = 100;
  for (generation_ = 0; generation_ < kEpochs * 1000; generation_ += 1000) {
    epoch(0, begin, 1);
    read();
    begin += 20 * kMs;
  }
  const RankRecord record = trainer_process_.measured()->finish();
  record.rows.for_each([&](const StepRow& row) { decode += row.stall[Cause::decode]; });
  EXPECT_EQ(decode, kEpochs * 10 * kMs);
  EXPECT_EQ(trainer_process_.left_out(), 0);
}

// Finished at 10, 20, .. and 4 ms on its way, 3 of which its feeder waits for a core; then the
// trainer waits for one for 1 ms. Trained until 17, 27, ..: of the 8 ms to the next take 3 are of
// its making, 4 of its sending and 1 of the trainer. Of the first, 10 are.
TEST_F(LoaderHistoryTest, BooksRunQueueDelayOfTransportAsContention) {
  sending_ = 4 * kMs;
  sending_queued_ = 3 * kMs;
  waking_ = kMs;
  epoch(0, kSecond, 5);
  read();
  PerCause<Nanos> stall{};
  trainer_process_.measured()->finish().rows.for_each([&](const StepRow& row) {
    for (std::size_t i = 0; i < kCauses; ++i) stall.at(i) += row.stall.at(i);
  });
  EXPECT_EQ(stall[Cause::decode], (10 + 4 * 3) * kMs);
  EXPECT_EQ(stall[Cause::transport], 5 * kMs);
  EXPECT_EQ(stall[Cause::contention], 5 * (3 + 1) * kMs);
}

// A queue that takes 1 ms to give what is in it says nothing of the window.
// The batch is there at 10, 20, .., and the sampler chooses those of a later one for 3 ms: given at
// 13, 23, .., and trained until 15, 25, ...
TEST_F(LoaderHistoryTest, BooksSamplerTimeAsLaunch) {
  choosing_ = 3 * kMs;
  epoch(0, kSecond, 5);
  read();
  LoaderHistory& history = *trainer_process_.measured();
  EXPECT_EQ(history.mean_choosing(), 3 * kMs);
  const RankRecord record = history.finish();
  const Account account = rank_account(record);
  EXPECT_EQ(account.stall[Cause::launch], 5 * 3 * kMs);
  EXPECT_EQ(account.stall[Cause::transport], 0);
  EXPECT_EQ(account.compute, 5 * 2 * kMs);
  EXPECT_EQ(record.stages[Stage::launch].wall, 5 * 3 * kMs);
}

// The trainer has the message of each batch at 10, 20, .. and waits 4.3 ms for its memory. A worker
// that does nothing else would take 0.3 ms.
TEST_F(LoaderHistoryTest, BooksWaitForBusyWorkerToItsWork) {
  answering_ = 4 * kMs + 300 * kMicrosecond;
  epoch(0, kSecond, 5);
  read();
  LoaderHistory& history = *trainer_process_.measured();
  EXPECT_EQ(history.answers().descriptors, 5);
  EXPECT_EQ(history.answers().kept, 5 * 4 * kMs);
  const RankRecord record = history.finish();
  const Account account = rank_account(record);
  EXPECT_EQ(account.stall[Cause::transport], 5 * 300 * kMicrosecond);
  EXPECT_EQ(account.stall[Cause::decode] + account.stall[Cause::transport] + account.compute,
            account.window);
  EXPECT_GT(record.critical_path->stall[Cause::decode],
            record.critical_path->stall[Cause::transport]);
}

// The feeder begins to send 2.3 ms after the end of the batch, which then arrives at once.
TEST_F(LoaderHistoryTest, BooksDelayedSendingToWorkOfWorker) {
  sending_ = kept_ = 2 * kMs + 300 * kMicrosecond;
  epoch(0, kSecond, 5);
  read();
  const RankRecord record = trainer_process_.measured()->finish();
  const Account account = rank_account(record);
  EXPECT_EQ(account.stall[Cause::transport], 5 * 300 * kMicrosecond);
  EXPECT_EQ(account.stall[Cause::decode] + account.stall[Cause::transport] + account.compute,
            account.window);
}

// The worker has finished its previous batch when it asks for the task.
TEST_F(LoaderHistoryTest, TimesTurnsOfWorkers) {
  rest_ = kMs;
  epoch(0, kSecond, 5);
  read();
  LoaderHistory& history = *trainer_process_.measured();
  history.advance(true);
  EXPECT_EQ(history.window().turns().batches(), 5);
  EXPECT_EQ(history.window().turns().time(), kMs);  // the first turn; the others follow at once
}

TEST(WorkerTurns, CountsFromLaterOfFreeAndDispatched) {
  WorkerTurns turns;
  StepEvents events;
  const auto add = [&](Nanos dispatched, Nanos begun, Nanos idle) {
    events.dispatched = dispatched;
    events.begun = begun;
    events.worker_idle = idle;
    events.finished = begun + 10 * kMs;
    turns.add(events);
    return turns.time();
  };
  EXPECT_EQ(add(kMs, 5 * kMs, 2 * kMs), 2 * kMs);        // asked for the task at 3
  EXPECT_EQ(add(kMs, 18 * kMs, kMs), 5 * kMs);           // free at 15, then sent its batch
  EXPECT_EQ(add(35 * kMs, 36 * kMs, 8 * kMs), 6 * kMs);  // had no task before 35
  events.warmup = true;
  EXPECT_EQ(add(kMs, 60 * kMs, 0), 6 * kMs);
  EXPECT_EQ(turns.batches(), 3);
}

TEST_F(LoaderHistoryTest, BooksRestWithTaskAsCapacity) {
  rest_ = kMs;
  const auto why = reasons();
  EXPECT_EQ(why[Why::latency], 0);
  EXPECT_GT(why[Why::capacity], 0);
}

TEST_F(LoaderHistoryTest, BooksRestWithoutTaskAsLatency) {
  rest_ = kMs;
  dispatched_after_ = kMs / 2;
  const auto why = reasons();
  EXPECT_GT(why[Why::latency], 0);
  EXPECT_EQ(why[Why::capacity], 0);
}

// The loader has two threads or processes of its own, which report nothing.
TEST_F(LoaderHistoryTest, MeasuresWaitForOpaqueLoader) {
  loader_.is_opaque = true;
  loader_.num_workers = 2;
  trainer_process_.add_iterator(0, loader_);
  const auto report = [&](const GuestEvent& event) { PageRings(*trainer_).facts.push(event); };
  report(fact(GuestEventKind::epoch, -1, kSecond));
  for (int k = 0; k < 5; ++k) {
    const Nanos asked = kSecond + 10 * kMs * k, taken = asked + 8 * kMs;
    report(fact(GuestEventKind::ask, -1, asked));
    report(fact(GuestEventKind::begun, k, asked, asked));
    span(*trainer_, Stage::opaque, 0, k, asked, taken);
    report(fact(GuestEventKind::dispatched, k, asked));
    report(fact(GuestEventKind::finished, k, taken));
    report(fact(GuestEventKind::take, k, taken));
  }
  report(fact(GuestEventKind::ask, -1, kSecond + 50 * kMs));
  trainer_process_.read(*trainer_, {});
  trainer_process_.advance(false);
  const RankRecord record = trainer_process_.measured()->finish();
  EXPECT_EQ(record.steps(), 5);
  Nanos opaque = 0, compute = 0;
  record.rows.for_each([&](const StepRow& row) {
    opaque += row.stall[Cause::opaque];
    compute += row.compute();
  });
  EXPECT_EQ(opaque, 5 * 8 * kMs);
  EXPECT_EQ(compute, 5 * 2 * kMs);
}

TEST_F(LoaderHistoryTest, CountsTimeBetweenEpochsAsCompute) {
  epoch(0, kSecond, 3);  // ends at 1.032, and takes 1 ms to do so
  epoch(1, kSecond + 100 * kMs, 3);
  read();
  const RankRecord record = trainer_process_.measured()->finish();
  EXPECT_EQ(record.steps(), 6);
  std::vector<Nanos> computes;
  record.rows.for_each([&](const StepRow& row) { computes.push_back(row.compute()); });
  EXPECT_EQ(computes.at(1), 2 * kMs);
  // From its take at 1.030 until the next epoch at 1.100, without what the iterator took to end.
  EXPECT_EQ(computes.at(2), 69 * kMs);
}

// Two epochs, whose worker the trainer ended for 1 ms and started for 5 ms.
TEST_F(LoaderHistoryTest, SeparatesTrainersPartOfWorkerStart) {
  epoch(0, kSecond, 5);
  ThreadLog::Entry up;
  up.span = {2 * kSecond, 2 * kSecond + 8 * kMs};
  up.span.stage = Stage::startup;
  PageRings(*worker_).spans.push(up);
  epoch(1, 2 * kSecond, 5);
  GuestEvent started = fact(GuestEventKind::started, -1, 2 * kSecond, 2 * kSecond + 5 * kMs);
  started.iterator = 1;
  started.cpu = 4 * kMs;
  PageRings(*trainer_).facts.push(started);
  trainer_process_.read(*trainer_, {});
  trainer_process_.read(*worker_, {0, 1});
  trainer_process_.advance(false);
  const RankRecord record = trainer_process_.measured()->finish();
  const StageStats& parent = record.stages[Stage::startup_parent];
  EXPECT_EQ(parent.count, 1);
  EXPECT_EQ(parent.wall, 6 * kMs);
  EXPECT_EQ(parent.cpu, 4 * kMs);
  EXPECT_EQ(record.stages[Stage::startup].wall, 3 * kMs);  // the worker's own part after that
}

TEST_F(LoaderHistoryTest, CountsSamplesOfReplayedBatchesWithoutWork) {
  epoch(0, kSecond, 3);
  Nanos at = kSecond + 40 * kMs;
  for (int k = 0; k < 2; ++k) {
    PageRings(*trainer_).facts.push(fact(GuestEventKind::ask, -1, at));
    PageRings(*trainer_).facts.push(fact(GuestEventKind::replayed, k, at + kMs));
    at += 5 * kMs;
  }
  PageRings(*trainer_).facts.push(fact(GuestEventKind::ask, -1, at));
  read();
  const RankRecord record = trainer_process_.measured()->finish();
  EXPECT_EQ(record.steps(), 5);
  EXPECT_EQ(record.samples, 20);
  const StepRow last = record.rows.back();
  EXPECT_EQ(last.samples, 4);
  EXPECT_EQ(last.compute(), 4 * kMs);
  EXPECT_EQ(last.stall[Cause::transport], kMs);  // the hand-over is all that is left
}

TEST_F(LoaderHistoryTest, AcceptsWorkerEventsBeforeThoseOfTrainer) {
  epoch(0, kSecond, 5);
  trainer_process_.read(*worker_, {0, 0});
  trainer_process_.advance(false);
  EXPECT_EQ(trainer_process_.measured(), nullptr);
  read();
  EXPECT_EQ(trainer_process_.measured()->finish().steps(), 5);
}

TEST_F(LoaderHistoryTest, OmitsStepsWithoutKnownEnd) {
  trainer_process_.add_iterator(0, loader_);
  PageRings(*trainer_).facts.push(fact(GuestEventKind::epoch, -1, kSecond));
  PageRings(*trainer_).facts.push(fact(GuestEventKind::dispatched, 0, kSecond));
  PageRings(*trainer_).facts.push(fact(GuestEventKind::ask, -1, kSecond));
  PageRings(*trainer_).facts.push(fact(GuestEventKind::take, 0, kSecond + 5 * kMs));
  read();
  const RankRecord record = trainer_process_.measured()->finish();
  std::vector<Nanos> computes;
  record.rows.for_each([&](const StepRow& row) { computes.push_back(row.compute()); });
  EXPECT_EQ(computes, std::vector<Nanos>{});
}

TEST_F(LoaderHistoryTest, IgnoresOtherLoader) {
  LoaderFacts other = loader_;
  other.number = 1;
  trainer_process_.add_iterator(7, other);
  GuestEvent epoch_of_other = fact(GuestEventKind::epoch, -1, kSecond);
  epoch_of_other.iterator = 7;
  PageRings(*trainer_).facts.push(epoch_of_other);
  epoch(0, kSecond + kMs, 4);
  read();
  EXPECT_EQ(trainer_process_.measured()->loader().number, 0);
  const RankRecord record = trainer_process_.measured()->finish();
  EXPECT_EQ(record.steps(), 4);
  EXPECT_EQ(record.first_ask, kSecond + kMs);
}

// A framework wraps the loader and moves its batches. The time of the wrapper is no compute, and at
// most the time between two batches.
TEST_F(LoaderHistoryTest, ExcludesWrapperFromCompute) {
  moved_ = {fact(GuestEventKind::wrapped, 1, kSecond, kSecond + kMs),
            fact(GuestEventKind::wrapped, 2, kSecond, kSecond + 5 * kMs)};
  epoch(0, kSecond, 4);
  read();
  LoaderHistory& history = *trainer_process_.measured();
  EXPECT_EQ(history.mean_wrapping(), 6 * kMs / 4);
  const Account account = rank_account(history.finish());
  EXPECT_EQ(account.compute, (2 + 1 + 0 + 2) * kMs);
  EXPECT_EQ(account.stall[Cause::launch], 3 * kMs);
}

// The chain of waits leads through the wrapper to the work before it.
TEST_F(LoaderHistoryTest, FollowsCriticalPathThroughWrapper) {
  for (int step = 1; step <= 12; ++step)
    moved_.push_back(fact(GuestEventKind::wrapped, step, kSecond, kSecond + kMs / 10));
  epoch(0, kSecond, 12);
  read();
  const RankRecord record = trainer_process_.measured()->finish();
  ASSERT_TRUE(record.critical_path);
  const CriticalPath& path = *record.critical_path;
  EXPECT_LE(path.stall[Cause::launch], rank_account(record).stall[Cause::launch]);
  EXPECT_GT(path.stall[Cause::launch], 0);
  EXPECT_GT(path.stall[Cause::opaque] + path.stall[Cause::decode] + path.stall[Cause::read], 0);
}

// A validation of more batches came first, without gradients.
TEST_F(LoaderHistoryTest, MeasuresLoaderWithGradients) {
  loader_.number = 1;
  gradients_ = 0;
  epoch(0, kSecond, 9);
  loader_.number = 2;
  gradients_ = 1;
  epoch(1, 2 * kSecond, 3);
  read();
  EXPECT_EQ(trainer_process_.measured()->loader().number, 2);
  EXPECT_EQ(trainer_process_.used().size(), 2u);
  EXPECT_EQ(trainer_process_.measured()->finish().steps(), 3);
}

// Two loaders: in each step of 10 ms, the trainer takes a batch of one and waits for the other.
class TwoLoaders : public LoaderHistoryTest {
 protected:
  void report(std::int32_t iterator, GuestEvent event) {
    event.iterator = iterator;
    PageRings(*trainer_).facts.push(event);
  }
  void begin(std::int32_t number, Nanos at) {
    loader_.number = number;
    loader_.num_workers = 0;
    trainer_process_.add_iterator(number, loader_);
    report(number, fact(GuestEventKind::epoch, -1, at));
  }
  void wait(std::int32_t number, std::int64_t batch, Nanos asked, Nanos taken,
            std::int64_t thread = 1) {
    GuestEvent ask = fact(GuestEventKind::ask, -1, asked);
    ask.count = thread;
    report(number, ask);
    report(number, fact(GuestEventKind::begun, batch, asked, asked));
    report(number, fact(GuestEventKind::finished, batch, taken));
    GuestEvent take = fact(GuestEventKind::take, batch, taken);
    take.count = 1;
    report(number, take);
  }
  // Steps of 10 ms: 1 ms for loader 0, then `other` for loader 1.
  void zipped(Nanos other, std::int64_t thread_of_other) {
    begin(0, kSecond);
    begin(1, kSecond);
    for (int k = 0; k < 5; ++k) {
      const Nanos at = kSecond + 10 * kMs * k;
      wait(0, k, at, at + kMs);
      wait(1, k, at + kMs, at + kMs + other, thread_of_other);
    }
    GuestEvent ask = fact(GuestEventKind::ask, -1, kSecond + 50 * kMs);
    ask.count = 1;
    report(0, ask);
    EXPECT_TRUE(trainer_process_.read(*trainer_, {}));
    trainer_process_.advance(true);
  }
};

TEST_F(TwoLoaders, MeasuresLoaderWithFarLongerWait) {
  zipped(7 * kMs, 1);
  ASSERT_EQ(trainer_process_.used().size(), 2u);
  EXPECT_EQ(trainer_process_.measured()->loader().number, 1);
  EXPECT_EQ(trainer_process_.used()[0]->time().waited(), 5 * kMs);
  EXPECT_EQ(trainer_process_.used()[0]->time().looped(), 50 * kMs);
  EXPECT_EQ(trainer_process_.used()[1]->time().waited(),
            5 * 7 * kMs + kMs);  // includes 1 ms before its first ask
}

TEST_F(TwoLoaders, ExcludesWaitForOtherLoaderFromCompute) {
  zipped(kMs, 1);
  LoaderHistory& first = *trainer_process_.measured();
  ASSERT_EQ(first.loader().number, 0);
  EXPECT_EQ(first.waited_for_others().at(1), 5 * kMs);
  const Account account = rank_account(first.finish());
  EXPECT_EQ(account.stall[Cause::launch], 5 * kMs);
  EXPECT_EQ(account.compute, 5 * 8 * kMs);
}

TEST_F(TwoLoaders, IgnoresWaitsOfOtherThreads) {
  zipped(kMs, 2);
  EXPECT_TRUE(trainer_process_.measured()->waited_for_others().empty());
  EXPECT_EQ(rank_account(trainer_process_.measured()->finish()).compute, 5 * 9 * kMs);
}

TEST_F(LoaderHistoryTest, MeasuresLoaderWithFarMoreTime) {
  epoch(0, kSecond, 4);
  loader_.number = 1;
  epoch(1, 2 * kSecond, 6);
  read();
  EXPECT_EQ(trainer_process_.measured()->loader().number, 0);
  epoch(2, 3 * kSecond, 6);
  read();
  EXPECT_EQ(trainer_process_.measured()->loader().number, 1);
}

TEST_F(LoaderHistoryTest, ExcludesCopiesOfProgramFromCompute) {
  // Two copies of batch 1, which is taken at 1.020 and trained until 1.022.
  const Nanos take = kSecond + 20 * kMs;
  moved_ = {fact(GuestEventKind::moved, 1, take, take + kMs / 2),
            fact(GuestEventKind::moved, 1, take + kMs, take + kMs + kMs / 2)};
  epoch(0, kSecond, 3);
  PageRings(*trainer_).facts.push(
      fact(GuestEventKind::moved, 9, take, take + kMs));  // batch 9 is unknown
  read();
  std::vector<Nanos> copies, computes;
  trainer_process_.measured()->finish().rows.for_each([&](const StepRow& row) {
    copies.push_back(row.stall[Cause::h2d]);
    computes.push_back(row.compute());
  });
  EXPECT_EQ(copies, (std::vector<Nanos>{0, kMs, 0}));
  EXPECT_EQ(computes, (std::vector<Nanos>{2 * kMs, kMs, 2 * kMs}));
}

class TrainedByUs : public LoaderHistoryTest {
 protected:
  TrainedByUs() { given_.program.command.given = false; }

  void on_device(GuestEventKind kind, std::int64_t taken, Nanos begin, Nanos end) {
    GuestEvent done = fact(kind, -1, begin, end);
    done.count = taken;
    PageRings(*trainer_).facts.push(done);
  }
};

TEST_F(TrainedByUs, TrainsHeldBatchWhenNextBatchIsTaken) {
  epoch(0, kSecond, 3);  // taken at 1.010, 1.020, 1.030
  on_device(GuestEventKind::copied, 1, kSecond + 20 * kMs, kSecond + 21 * kMs);
  on_device(GuestEventKind::computed, 1, kSecond + 21 * kMs, kSecond + 24 * kMs);
  on_device(GuestEventKind::computed, 2, kSecond + 30 * kMs, kSecond + 33 * kMs);
  on_device(GuestEventKind::copied, 2, kSecond + 33 * kMs, kSecond + 34 * kMs);
  on_device(GuestEventKind::computed, 2, kSecond + 34 * kMs, kSecond + 37 * kMs);  // the last one
  read();
  const RankRecord record = trainer_process_.measured()->finish();
  EXPECT_EQ(record.steps(), 3);
  std::vector<Nanos> computes, copies, decodes;
  record.rows.for_each([&](const StepRow& row) {
    computes.push_back(row.compute());
    copies.push_back(row.stall[Cause::h2d]);
    decodes.push_back(row.stall[Cause::decode]);
    EXPECT_EQ(row.clamped, 0);
  });
  EXPECT_EQ(computes, (std::vector<Nanos>{0, 3 * kMs, 6 * kMs}));
  EXPECT_EQ(copies, (std::vector<Nanos>{0, kMs, kMs}));
  EXPECT_EQ(decodes, (std::vector<Nanos>{10 * kMs, 10 * kMs, 6 * kMs}));
  EXPECT_EQ(record.window(), 37 * kMs);
}

TEST_F(LoaderHistoryTest, TakesStepTimesFromWatchedGpu) {
  epoch(0, kSecond, 4);  // taken every 10 ms from 1.010 on, and the host continues after 2 ms
  trainer_process_.watch_gpu();
  const auto kernel = [&](Nanos begin, Nanos end) {
    PageRings(*trainer_).gpu.push(
        {kSecond + begin, kSecond + end, 0, 0, GpuRecord::Kind::kernel, Stage::compute});
  };
  PageRings(*trainer_).gpu.push(
      {kSecond + 10 * kMs, kSecond + 11 * kMs, 64, 0, GpuRecord::Kind::copy, Stage::compute});
  kernel(11 * kMs, 14 * kMs);
  kernel(15 * kMs, 17 * kMs);
  kernel(21 * kMs, 32 * kMs);  // reaches into the next step
  // No GPU times of the fourth batch are known: its step has the times of the host.
  read();
  const RankRecord record = trainer_process_.measured()->finish();
  struct Seen {
    Nanos compute, h2d, launch, decode;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> seen;
  record.rows.for_each([&](const StepRow& row) {
    seen.push_back(
        {row.compute(), row.stall[Cause::h2d], row.stall[Cause::launch], row.stall[Cause::decode]});
  });
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[0], (Seen{5 * kMs, kMs, kMs, 10 * kMs}));
  EXPECT_EQ(seen[1], (Seen{9 * kMs, 0, kMs, 3 * kMs}));
  EXPECT_EQ(seen[2], (Seen{2 * kMs, 0, 0, 0}));
  EXPECT_EQ(seen[3], (Seen{2 * kMs, 0, 0, 8 * kMs}));
  const WindowRecorder& window = trainer_process_.measured()->window();
  EXPECT_EQ(window.steps_of_gpu(), 3);
  EXPECT_EQ(window.time_of_gpu_steps(), 32 * kMs);
  EXPECT_EQ(window.time_of_steps(), 42 * kMs);
}

TEST_F(LoaderHistoryTest, BooksBatchesMadeOnWatchedGpu) {
  epoch(0, kSecond, 3);  // taken every 10 ms from 1.010 on
  trainer_process_.watch_gpu();
  SharedRing<GpuRecord> gpu = PageRings(*trainer_).gpu;
  const auto kernel = [&](Nanos begin, Nanos end, std::uint32_t call) {
    gpu.push({kSecond + begin, kSecond + end, 0, call, GpuRecord::Kind::kernel, Stage::compute});
  };
  kernel(11 * kMs, 12 * kMs, 1);
  kernel(12 * kMs, 16 * kMs, 2);
  gpu.push({0, 0, 0, 1, GpuRecord::Kind::stage, Stage::gpu_augment});
  kernel(22 * kMs, 26 * kMs, 3);
  read();
  const RankRecord record = trainer_process_.measured()->finish();
  std::vector<StepRow> rows(2);
  record.rows.read(0, rows);
  EXPECT_EQ(rows[0].compute(), 4 * kMs);
  EXPECT_EQ(rows[0].device.augment, kMs);
  EXPECT_EQ(rows[0].stall[Cause::augment], kMs);
  EXPECT_EQ(rows[0].stall[Cause::launch], kMs);
  EXPECT_EQ(rows[0].clamped, 0);
  EXPECT_EQ(rows[1].compute(), 4 * kMs);
  EXPECT_EQ(rows[1].device, DeviceProduction());
  EXPECT_EQ(record.stages[Stage::gpu_augment].wall, kMs);
}

// PyTorch allows it: a loader of one worker has three in its second epoch.
TEST_F(LoaderHistoryTest, IncludesWorkersThatJoinBetweenEpochs) {
  epoch(0, kSecond, 3);
  loader_.num_workers = 3;
  worker_number_ = 2;
  epoch(1, 2 * kSecond, 3);
  read();
  const LoaderHistory& training = *trainer_process_.measured();
  EXPECT_EQ(training.first_workers(), 1);
  EXPECT_EQ(training.loader().num_workers, 3);
  const RankRecord record = trainer_process_.measured()->finish();
  EXPECT_EQ(record.steps(), 6);
  EXPECT_EQ(record.samples, 24);
  EXPECT_EQ(record.rows.back().worker, 2);
  EXPECT_EQ(record.rows.back().stall[Cause::decode], 8 * kMs);
}

// The worker could not join, so only the arrival of its batch is known.
TEST_F(LoaderHistoryTest, EstimatesSizeOfBatchesFromUnseenWorkers) {
  epoch(0, kSecond, 3);
  const auto report = [&](const GuestEvent& event) { PageRings(*trainer_).facts.push(event); };
  report(fact(GuestEventKind::ask, -1, kSecond + 40 * kMs));
  report(fact(GuestEventKind::take, 3, kSecond + 50 * kMs));
  report(fact(GuestEventKind::ask, -1, kSecond + 52 * kMs));
  read();
  const RankRecord record = trainer_process_.measured()->finish();
  EXPECT_EQ(record.steps(), 4);
  EXPECT_EQ(record.samples, 16);
}

TEST_F(LoaderHistoryTest, RejectsOverwrittenPages) {
  epoch(0, kSecond, 3);
  read();
  GuestEvent beyond = fact(GuestEventKind::begun, 3, kSecond, kSecond);
  beyond.worker = -7;
  PageRings(*worker_).facts.push(beyond);
  EXPECT_FALSE(trainer_process_.read(*worker_, {0, 0}));
  std::memset(static_cast<void*>(trainer_.get()), 0xff, Page::bytes());
  EXPECT_FALSE(trainer_process_.read(*trainer_, {}));
  trainer_process_.advance(false);
  EXPECT_EQ(trainer_process_.measured()->finish().steps(), 3);
}

// The iterator of these events is unknown. They are not kept for ever.
TEST_F(LoaderHistoryTest, CountsEventsOfUnknownIterators) {
  GuestEvent lost = fact(GuestEventKind::ask, -1, kSecond);
  lost.iterator = 99;
  for (int look = 0; look < 20; ++look) {
    for (std::size_t i = 0; i < Page::kFacts; ++i) PageRings(*trainer_).facts.push(lost);
    trainer_process_.read(*trainer_, {});
    trainer_process_.advance(false);
  }
  EXPECT_GT(trainer_process_.left_out(), 0);
  EXPECT_LT(trainer_process_.left_out(), static_cast<std::int64_t>(20 * Page::kFacts));
}

}  // namespace
}  // namespace loaderscope::guest
