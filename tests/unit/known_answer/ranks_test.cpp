// Several ranks: alone, or with a barrier before each compute.
#include <set>

#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

const Case kAlone[] = {
    // Rank 1 needs 20 ms a batch, rank 0 10; C = 4. The ranks do not wait for each other; each has
    // its own window of 30 steps.
    {"no_barrier",
     "ranks=2 workers=1 batch=1 cost=decode=10ms:sleep inject=decode=+10ms@rank=1 compute=4ms "
     "warmup=2 steps=30",
     {{.window = 300_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 180_ms}},
       .why = {{Why::capacity, 180_ms}}},
      {.window = 600_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 480_ms}},
       .why = {{Why::capacity, 480_ms}}}},
     "decode"},
    // A barrier for one is none.
    {"barrier_of_one",
     "ranks=1 sync-ranks=true workers=1 batch=1 cost=decode=10ms compute=4ms warmup=2 steps=30",
     {{.window = 300_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 180_ms}},
       .why = {{Why::capacity, 180_ms}}}},
     "decode"},
    // Equal ranks never wait for each other.
    {"barrier_of_equals",
     "ranks=3 sync-ranks=true workers=1 batch=1 cost=decode=10ms compute=4ms warmup=2 steps=30",
     std::vector<Answer>(3, {.window = 300_ms,
                             .compute = 120_ms,
                             .stall = {{Cause::decode, 180_ms}},
                             .why = {{Why::capacity, 180_ms}}}),
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(Alone, KnownAnswer, testing::ValuesIn(kAlone), name_of_case);

const Case kStraggler[] = {
    // The case no_barrier, but with a barrier: a step every 20 ms. Rank 0 has its batch when its
    // compute ends, so for all of the 16 idle ms it waits for rank 1, which waits for decode.
    {"slow_decode",
     "ranks=2 sync-ranks=true workers=1 batch=1 cost=decode=10ms:sleep inject=decode=+10ms@rank=1 "
     "compute=4ms warmup=2 steps=30",
     {{.window = 600_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 480_ms}},
       .why = {{Why::capacity, 480_ms}},
       .waiting_for_ranks = 480_ms},
      {.window = 600_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 480_ms}},
       .why = {{Why::capacity, 480_ms}}}},
     "decode"},

    // Without workers and with N = 1 both begin to make their batch when the compute has ended:
    // decode 16, and rank 1 4 ms of collate more, for which rank 0 waits. C = 4, 24 ms a step.
    {"slow_collate",
     "ranks=2 sync-ranks=true workers=0 in-flight=1 batch=1 cost=decode=16ms "
     "inject=collate=+4ms@rank=1 compute=4ms warmup=2 steps=30",
     {{.window = 720_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 480_ms}, {Cause::collate, 120_ms}},
       .why = {{Why::capacity, 600_ms}},
       .waiting_for_ranks = 120_ms},
      {.window = 720_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 480_ms}, {Cause::collate, 120_ms}},
       .why = {{Why::capacity, 600_ms}}}},
     "decode"},

    // A copy of 2 ms on rank 0 and 7 on rank 1: rank 0 copies for 2 and waits 5 for the other's
    // copy.
    {"slow_copy",
     "ranks=2 sync-ranks=true workers=1 batch=1 cost=collate=1ms cost=h2d=2ms "
     "inject=h2d=+5ms@rank=1 compute=4ms warmup=4 steps=30",
     {{.window = 330_ms,
       .compute = 120_ms,
       .stall = {{Cause::h2d, 210_ms}},
       .waiting_for_ranks = 150_ms},
      {.window = 330_ms, .compute = 120_ms, .stall = {{Cause::h2d, 210_ms}}}},
     "h2d"},

    // Rank 1 computes for 10 ms, rank 0 for 4: rank 0 waits for the device of rank 1, and not for
    // data.
    {"slow_compute",
     "ranks=2 sync-ranks=true workers=1 batch=1 cost=collate=1ms compute=4ms "
     "inject=compute=+6ms@rank=1 warmup=4 steps=30",
     {{.window = 300_ms,
       .compute = 120_ms,
       .stall = {{Cause::launch, 180_ms}},
       .waiting_for_ranks = 180_ms},
      {.window = 300_ms, .compute = 300_ms}}},
    // And when that has ended, for its copy of 5 ms (its own one of 2 is over by then): 15 ms a
    // step.
    {"slow_compute_and_copy",
     "ranks=2 sync-ranks=true workers=1 batch=1 cost=collate=1ms cost=h2d=2ms "
     "inject=h2d=+3ms@rank=1 compute=4ms inject=compute=+6ms@rank=1 warmup=4 steps=30",
     {{.window = 450_ms,
       .compute = 120_ms,
       .stall = {{Cause::h2d, 210_ms}, {Cause::launch, 120_ms}},
       .waiting_for_ranks = 270_ms},
      {.window = 450_ms, .compute = 300_ms, .stall = {{Cause::h2d, 150_ms}}}}},

    // Rank 1 needs 14 ms a batch and computes for 10, rank 0 1 and 4. Rank 0 is ready at 4 and
    // waits until 14: until 10 the other computes, while its next batch is being made; then it
    // waits for the decode of that.
    {"slow_compute_and_decode",
     "ranks=2 sync-ranks=true workers=1 batch=1 cost=decode=1ms:sleep inject=decode=+13ms@rank=1 "
     "compute=4ms inject=compute=+6ms@rank=1 warmup=4 steps=30",
     {{.window = 420_ms,
       .compute = 120_ms,
       .stall = {{Cause::launch, 180_ms}, {Cause::decode, 120_ms}},
       .why = {{Why::capacity, 120_ms}},
       .waiting_for_ranks = 300_ms},
      {.window = 420_ms,
       .compute = 300_ms,
       .stall = {{Cause::decode, 120_ms}},
       .why = {{Why::capacity, 120_ms}}}}},

    // Pageable: the trainers copy themselves, 4 ms after their own compute; C = 10 on rank 0, 16
    // on rank 1. Let both begin to compute at 0. Rank 0 copies [10, 14] and waits until 20: until
    // 16 the other computes, until 20 it copies.
    {"slow_compute_and_pageable_copy",
     "ranks=2 sync-ranks=true workers=1 batch=4 delivered-bytes=1MB link=4/1 memory=pageable "
     "cost=collate=1ms compute=10ms inject=compute=+6ms@rank=1 warmup=4 steps=30",
     {{.window = 600_ms,
       .compute = 300_ms,
       .stall = {{Cause::h2d, 240_ms}, {Cause::launch, 60_ms}},
       .waiting_for_ranks = 180_ms},
      {.window = 600_ms, .compute = 480_ms, .stall = {{Cause::h2d, 120_ms}}}}},

    // Every other batch of rank 0 takes 30 ms instead of 10; C = 4. Rank 0 works all the time:
    // finished at 10, 40, 50, 80, ... so of 40 ms its device waits for 32. Rank 1 makes its
    // batches meanwhile and waits for rank 0.
    {"now_and_then",
     "ranks=2 sync-ranks=true workers=1 batch=1 cost=decode=10ms:sleep "
     "inject=decode=+20ms@rank=0@every=2 compute=4ms warmup=4 steps=40",
     {{.window = 800_ms,
       .compute = 160_ms,
       .stall = {{Cause::decode, 640_ms}},
       .why = {{Why::capacity, 640_ms}}},
      {.window = 800_ms,
       .compute = 160_ms,
       .stall = {{Cause::decode, 640_ms}},
       .why = {{Why::capacity, 640_ms}},
       .waiting_for_ranks = 640_ms}},
     "decode"},

    // Epochs of ten batches, T = 10 = C. Let an epoch end at 0; the next is asked for at -10.
    // Rank 0 is up at 10 and has its batch at 20, rank 1 at 20 and 30: rank 0 waits from 20 to 30
    // for the decode of rank 1.
    {"slow_startup",
     "ranks=2 sync-ranks=true workers=1 batch=1 samples=20 epochs=3 cost=startup=20ms "
     "inject=startup=+10ms@rank=1 cost=decode=10ms:sleep compute=10ms warmup=10",
     {{.window = 260_ms,
       .compute = 200_ms,
       .stall = {{Cause::startup, 20_ms}, {Cause::decode, 40_ms}},
       .why = {{Why::epoch, 60_ms}},
       .waiting_for_ranks = 20_ms},
      {.window = 260_ms,
       .compute = 200_ms,
       .stall = {{Cause::startup, 40_ms}, {Cause::decode, 20_ms}},
       .why = {{Why::epoch, 60_ms}}}}},
};
INSTANTIATE_TEST_SUITE_P(Straggler, KnownAnswer, testing::ValuesIn(kStraggler), name_of_case);

std::set<std::int64_t> kept_samples(const RankRecord& rank) {
  std::set<std::int64_t> samples;
  for (const SampleRow& row : rank.reservoir) samples.insert(row.sample);
  return samples;
}

using Samples = std::set<std::int64_t>;

// Compute k begins at 1 + 10 k on both ranks and ends 4 ms later on rank 0, 10 on rank 1. A
// warm-up of 98 ms ends with step 9 on rank 0 (95), on rank 1 with step 8 (91); but steps of all
// ranks belong together, and rank 0 leads.
TEST(KnownAnswerRanks, SharesOneWindowAtBarrier) {
  const RunRecord record =
      run("ranks=2 sync-ranks=true workers=1 batch=1 cost=collate=1ms compute=4ms "
          "inject=compute=+6ms@rank=1 warmup=98ms duration=100ms");
  EXPECT_EQ(record.ranks[0].warmup_steps, 10);
  EXPECT_EQ(record.ranks[1].warmup_steps, 10);
  EXPECT_EQ(record.ranks[0].steps(), 10);
  EXPECT_EQ(record.ranks[1].steps(), 10);
}

// Costs of batches are drawn for each rank apart.
TEST(KnownAnswerRanks, DrawsBatchesIndependently) {
  const RunRecord record =
      run("ranks=2 workers=1 batch=1 cost=collate=exponential:10ms compute=1ms warmup=2 steps=30");
  EXPECT_NE(record.ranks[0].stages[Stage::collate].wall,
            record.ranks[1].stages[Stage::collate].wall);
}

// PyTorch's DistributedSampler: 10 samples for 3 ranks are padded with the first two to 12; rank
// r has every third from r on. Batches of 2: two each.
TEST(KnownAnswerRanks, DistributesAndPadsSamples) {
  const RunRecord record =
      run("ranks=3 workers=1 batch=2 samples=10 epochs=1 warmup=0 cost=decode=1ms compute=1ms");
  for (const RankRecord& rank : record.ranks) {
    EXPECT_EQ(rank.steps(), 2);
    EXPECT_EQ(rank.samples, 4);
  }
  EXPECT_EQ(kept_samples(record.ranks[0]), (Samples{0, 3, 6, 9}));
  EXPECT_EQ(kept_samples(record.ranks[1]), (Samples{1, 4, 7, 0}));
  EXPECT_EQ(kept_samples(record.ranks[2]), (Samples{2, 5, 8, 1}));
}

// 12 samples on 3 ranks, batches of 3 with the short one dropped: 4 samples each, one batch.
TEST(KnownAnswerRanks, DropsLastBatchPerRank) {
  const RunRecord record =
      run("ranks=3 workers=1 batch=3 samples=12 drop-last=true epochs=1 warmup=0 cost=decode=1ms "
          "compute=1ms");
  for (const RankRecord& rank : record.ranks) {
    EXPECT_EQ(rank.steps(), 1);
    EXPECT_EQ(rank.samples, 3);
  }
  EXPECT_EQ(kept_samples(record.ranks[2]), (Samples{2, 5, 8}));
}

// Shuffled, every sample is still read once an epoch by one rank.
TEST(KnownAnswerRanks, DistributesShuffledSamplesOnce) {
  const RunRecord record =
      run("ranks=2 workers=2 batch=4 samples=100 shuffle=true epochs=1 warmup=0 cost=decode=1ms "
          "compute=1ms");
  Samples all = kept_samples(record.ranks[0]);
  EXPECT_EQ(all.size(), 50u);
  all.merge(kept_samples(record.ranks[1]));
  EXPECT_EQ(all.size(), 100u);
  EXPECT_EQ(*all.begin(), 0);
  EXPECT_EQ(*all.rbegin(), 99);
}

}  // namespace
}  // namespace loaderscope::known_answer
