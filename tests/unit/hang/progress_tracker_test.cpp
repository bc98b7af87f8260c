// The progress of one process that trains, from its messages.
#include "hang/progress_tracker.h"

#include <gtest/gtest.h>

#include "guest/host/training_processes.h"

namespace loaderscope::hang {
namespace {

guest::GuestEvent made(guest::GuestEventKind kind, Nanos at, std::int64_t batch = -1,
                       std::int32_t worker = 0) {
  guest::GuestEvent fact;
  fact.kind = kind;
  fact.begin = fact.end = at;
  fact.batch = batch;
  fact.worker = worker;
  return fact;
}

TEST(ProgressTracker, ExtendsPatienceForSlowSteps) {
  ProgressTracker movement;
  EXPECT_EQ(movement.patience(10 * kSecond), 10 * kSecond);
  for (int step = 0; step < 100; ++step) {
    movement.note(made(guest::GuestEventKind::ask, 3 * step * kSecond));
    movement.note(made(guest::GuestEventKind::take, 3 * step * kSecond + 1, step));
  }
  EXPECT_NEAR(seconds(movement.patience(10 * kSecond)), 30, 1);
  EXPECT_EQ(movement.current().taken, 100);
}

TEST(ProgressTracker, AwaitsBatchesThatWereNotTaken) {
  ProgressTracker movement;
  movement.note(made(guest::GuestEventKind::epoch, 1));
  for (int batch = 0; batch < 3; ++batch)
    movement.note(made(guest::GuestEventKind::dispatched, 2, batch, batch % 2));
  movement.note(made(guest::GuestEventKind::ask, 3));
  movement.note(made(guest::GuestEventKind::take, 4, 0));
  movement.note(made(guest::GuestEventKind::sent, 5, 0));  // arrives after the take
  movement.note(made(guest::GuestEventKind::begun, 5, 1, 1));
  movement.note(made(guest::GuestEventKind::ask, 6));
  const std::vector<AwaitedBatch> awaited = movement.awaited();
  ASSERT_EQ(awaited.size(), 2U);
  EXPECT_EQ(awaited[0].number, 1);
  EXPECT_EQ(awaited[0].worker, 1);
  EXPECT_TRUE(awaited[0].begun);
  EXPECT_FALSE(awaited[1].begun);
  EXPECT_EQ(movement.asking_since(), 6);
}

TEST(ProgressTracker, ForgetsBatchesOfCutEpoch) {
  ProgressTracker movement;
  movement.note(made(guest::GuestEventKind::epoch, 1));
  movement.note(made(guest::GuestEventKind::dispatched, 2, 0));
  movement.note(made(guest::GuestEventKind::ask, 3));
  guest::GuestEvent next = made(guest::GuestEventKind::epoch, 4);
  next.generation = 1;
  movement.note(next);
  next.kind = guest::GuestEventKind::ask;
  movement.note(next);
  EXPECT_TRUE(movement.awaited().empty());
}

TEST(ProgressTracker, ReportsProcessThatOutlivesAnother) {
  ProgressTracker shorter, longer;
  for (ProgressTracker* movement : {&shorter, &longer}) {
    movement->note(made(guest::GuestEventKind::epoch, 1));
    movement->note(made(guest::GuestEventKind::ask, 2));
    movement->note(made(guest::GuestEventKind::take, 3, 0));
  }
  shorter.note(made(guest::GuestEventKind::ask, 4));
  shorter.note(made(guest::GuestEventKind::ended, 4));
  EXPECT_FALSE(is_left_alone(longer.current(), shorter.finished()));
  longer.note(made(guest::GuestEventKind::ask, 4));
  longer.note(made(guest::GuestEventKind::take, 5, 1));
  EXPECT_TRUE(is_left_alone(longer.current(), shorter.finished()));
  EXPECT_FALSE(is_left_alone(shorter.current(), longer.finished()));
}

TEST(EpochLengths, CountsBatchesOfEpoch) {
  guest::LoaderFacts loader;
  EXPECT_EQ(epoch_batches(loader), 0);
  loader.samples = 41;
  loader.batch_size = 4;
  EXPECT_EQ(epoch_batches(loader), 11);
  loader.drop_last = true;
  EXPECT_EQ(epoch_batches(loader), 10);
  loader.batches = 7;
  EXPECT_EQ(epoch_batches(loader), 7);
}

TEST(EpochLengths, ReportsOnlyUnequalLengths) {
  EXPECT_EQ(guest::length_sentence({}), "");
  EXPECT_EQ(guest::length_sentence({{0, 10}, {1, 10}}), "");
  EXPECT_EQ(guest::length_sentence({{0, 11}, {1, 10}, {2, 11}}).find("rank 1 has 10 batches"), 0U);
}

}  // namespace
}  // namespace loaderscope::hang
