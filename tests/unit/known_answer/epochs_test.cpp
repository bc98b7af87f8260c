// Epoch boundaries: short last batches, workers that are started again, and who pays for starting
// them.
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

const Case kLastBatch[] = {
    // 25 samples of 1 ms in batches of 10, 10 and 5; W = 1, C = 4. The trainer asks for an
    // epoch's first batch when it has taken the last one of the epoch before (its compute but one
    // is over by then). So the worker does not rest: three steps every 25 ms, finished at 10, 20
    // and 25. Idle 6 before the first (why: epoch), 6 before the second, 1 before the short one.
    {"short_last_batch",
     "workers=1 batch=10 samples=25 epochs=4 persistent-workers=true cost=decode=1ms compute=4ms "
     "warmup=3",
     {{.window = 75_ms,
       .compute = 36_ms,
       .stall = {{Cause::decode, 39_ms}},
       .why = {{Why::epoch, 18_ms}, {Why::capacity, 21_ms}}}}},
    // Two steps every 20 ms, 6 ms idle before each.
    {"short_last_batch_dropped",
     "workers=1 batch=10 samples=25 epochs=4 persistent-workers=true drop-last=true "
     "cost=decode=1ms compute=4ms warmup=2",
     {{.window = 60_ms,
       .compute = 24_ms,
       .stall = {{Cause::decode, 36_ms}},
       .why = {{Why::epoch, 18_ms}, {Why::capacity, 18_ms}}}}},
    // The restart of the workers does not show if starting takes no time.
    {"short_last_batch_and_restart",
     "workers=1 batch=10 samples=25 epochs=4 cost=decode=1ms compute=4ms warmup=3",
     {{.window = 75_ms,
       .compute = 36_ms,
       .stall = {{Cause::decode, 39_ms}},
       .why = {{Why::epoch, 18_ms}, {Why::capacity, 21_ms}}}}},
    // The copy of 5 samples of 1 MB at 1 GB/s takes half as long as that of 10. Made at once,
    // N = 2, C = 4: per epoch 25 ms of copies and 12 of compute; at the epoch's first step N = 2
    // hides the 1 ms that its batch takes.
    {"short_last_batch_is_copied_faster",
     "workers=1 batch=10 samples=25 epochs=4 persistent-workers=true delivered-bytes=1MB link=1/1 "
     "cost=collate=1ms compute=4ms warmup=3",
     {{.window = 111_ms, .compute = 36_ms, .stall = {{Cause::h2d, 75_ms}}}}},
};
INSTANTIATE_TEST_SUITE_P(LastBatch, KnownAnswer, testing::ValuesIn(kLastBatch), name_of_case);

// Ten batches an epoch, 20 epochs; W = 2, T = 10, C = 10: within an epoch the device never waits.
// Starting a worker takes 30 ms. Let an epoch end with its last compute at 0. With N = 2 the
// trainer asks for the next at -10, when the last compute but one has ended.
const Case kRestart[] = {
    // Up at 20, first batch made at 30: idle [0, 20] startup, [20, 30] decode; all of it has
    // why = epoch.
    {"workers_restarted",
     "workers=2 batch=1 samples=10 epochs=21 cost=startup=30ms cost=decode=10ms:sleep compute=10ms "
     "warmup=10",
     {{.window = 2600_ms,
       .compute = 2000_ms,
       .stall = {{Cause::startup, 400_ms}, {Cause::decode, 200_ms}},
       .why = {{Why::epoch, 600_ms}}}},
     "startup"},
    // Asked for at -10, made at 0.
    {"workers_kept",
     "workers=2 batch=1 samples=10 epochs=21 persistent-workers=true cost=startup=30ms "
     "cost=decode=10ms:sleep compute=10ms warmup=10",
     {{.window = 2000_ms, .compute = 2000_ms}},
     "compute"},
    // N = 1: asked for at 0.
    {"workers_restarted_in_step",
     "workers=2 batch=1 samples=10 epochs=21 in-flight=1 cost=startup=30ms cost=decode=10ms:sleep "
     "compute=10ms warmup=10",
     {{.window = 2800_ms,
       .compute = 2000_ms,
       .stall = {{Cause::startup, 600_ms}, {Cause::decode, 200_ms}},
       .why = {{Why::epoch, 800_ms}}}},
     "startup"},
    {"workers_kept_in_step",
     "workers=2 batch=1 samples=10 epochs=21 in-flight=1 persistent-workers=true cost=startup=30ms "
     "cost=decode=10ms:sleep compute=10ms warmup=10",
     {{.window = 2200_ms,
       .compute = 2000_ms,
       .stall = {{Cause::decode, 200_ms}},
       .why = {{Why::epoch, 200_ms}}}},
     "decode"},

    // The workers only start: T = 0. They begin to start at -10 and are ready at 20.
    {"startup_alone",
     "workers=2 batch=1 samples=10 epochs=21 cost=startup=30ms compute=10ms warmup=10",
     {{.window = 2400_ms,
       .compute = 2000_ms,
       .stall = {{Cause::startup, 400_ms}},
       .why = {{Why::epoch, 400_ms}}}},
     "startup"},
};
INSTANTIATE_TEST_SUITE_P(Restart, KnownAnswer, testing::ValuesIn(kRestart), name_of_case);

#define EPOCHS_OF_TEN                                                                              \
  "workers=2 batch=1 samples=10 epochs=21 executor=processes cost=decode=10ms:sleep compute=10ms " \
  "warmup=10 "                                                                                     \
  "cost=startup.parent=5ms "

// Starting each takes 5 ms of somebody else's time.
const Case kParent[] = {
    // The trainer forks worker 0 in [-10, -5] and worker 1 in [-5, 0], then dispatches. Worker 0
    // is up at 25: startup 25, decode 10.
    {"forked_by_the_trainer",
     EPOCHS_OF_TEN "cost=startup=30ms",
     {{.window = 2700_ms,
       .compute = 2000_ms,
       .stall = {{Cause::startup, 500_ms}, {Cause::decode, 200_ms}},
       .why = {{Why::epoch, 700_ms}}}},
     "startup"},
    {"spawned_by_the_trainer",
     EPOCHS_OF_TEN "mp-context=spawn cost=startup=30ms",
     {{.window = 2700_ms,
       .compute = 2000_ms,
       .stall = {{Cause::startup, 500_ms}, {Cause::decode, 200_ms}},
       .why = {{Why::epoch, 700_ms}}}},
     "startup"},
    // A server forks them while the trainer dispatches at once. Worker 0 is up as early as
    // before.
    {"forked_by_a_server",
     EPOCHS_OF_TEN "mp-context=forkserver cost=startup=30ms",
     {{.window = 2700_ms,
       .compute = 2000_ms,
       .stall = {{Cause::startup, 500_ms}, {Cause::decode, 200_ms}},
       .why = {{Why::epoch, 700_ms}}}},
     "startup"},

    // Without a startup of its own, N = 1. The trainer forks both in [0, 10] and dispatches;
    // worker 0 has been waiting since 5: startup 10, decode 10.
    {"forking_delays_the_dispatch",
     EPOCHS_OF_TEN "in-flight=1",
     {{.window = 2400_ms,
       .compute = 2000_ms,
       .stall = {{Cause::startup, 200_ms}, {Cause::decode, 200_ms}},
       .why = {{Why::epoch, 400_ms}}}},
     kNoVerdict},
    // The server has worker 0 ready at 5, and its task has been there since 0: startup 5, decode
    // 10. Worker 1 is ready at 10 and finished at 20, in time for step 1 at 25.
    {"a_server_does_not",
     EPOCHS_OF_TEN "in-flight=1 mp-context=forkserver",
     {{.window = 2300_ms,
       .compute = 2000_ms,
       .stall = {{Cause::startup, 100_ms}, {Cause::decode, 200_ms}},
       .why = {{Why::epoch, 300_ms}}}},
     "decode"},

    // C = 1: step 1 waits for worker 1 to be there. N = 1, counted from the ask: worker 0 up at
    // 5, batch 0 at 15, compute [15, 16]; worker 1 up at 25 (20 ms more injected), finished at
    // 35. Idle 5 startup + 10 decode, then 9 startup [16, 25] + 10 decode until 35. Batches 2, 4,
    // ... of worker 0 are made by 25, 35 (window of 4: batch 4 is dispatched at 15, batch 6 at
    // 36). Batch 2 at 25: waits for 1 until 35: compute [35, 36], 2 [36, 37]. Batch 3 of worker 1
    // (dispatched at 0) comes at 45: idle 8 decode; 4 (finished at 35) at once: [45, 46],
    // [46, 47]. Batch 5 (dispatched at 35) at 55: 8; 6 (dispatched at 36, made [36, 46]) at once.
    // 7 (dispatched at 45) at 65: 8; 8 at once. 9 at 75: 8. The epoch ends with compute 9
    // [75, 76]: startup 14, decode 20 + 4 x 8 = 52; compute 10. why: epoch for step 0 (15) and
    // worker 1's startup (9); the other 42 are capacity: worker 1 never rests. Order: while 1 is
    // awaited, batch 2 is there from 25: 10; then 8 each for 3, 5 and 7. No batch follows 9.
    {"late_second_worker",
     "workers=2 batch=1 samples=10 epochs=3 executor=processes mp-context=forkserver in-flight=1 "
     "cost=startup.parent=5ms inject=startup=+15ms@worker=1 cost=decode=10ms:sleep compute=1ms "
     "warmup=10",
     {{.window = 152_ms,
       .compute = 20_ms,
       .stall = {{Cause::startup, 28_ms}, {Cause::decode, 104_ms}},
       .why = {{Why::epoch, 48_ms}, {Why::capacity, 84_ms}},
       .order = 68_ms}}},
};
INSTANTIATE_TEST_SUITE_P(Parent, KnownAnswer, testing::ValuesIn(kParent), name_of_case);

const Case kRest[] = {
    // Epochs of two batches, workers kept, N = 1: counted from the ask, worker 0 makes its batch
    // in [0, 10] and worker 1 in [0, 30]. C = 1: computes [10, 11] and [30, 31], then the next
    // epoch. Between epochs there is nothing to make, so their rest (20 and 1 ms) is not for want
    // of depth: step 0 waits for 10 ms, why: epoch, step 1 for 19, capacity.
    {"rest_between_epochs",
     "workers=2 batch=1 samples=2 epochs=21 persistent-workers=true in-flight=1 "
     "cost=decode=10ms:sleep inject=decode=+20ms@worker=1 compute=1ms warmup=2",
     {{.window = 620_ms,
       .compute = 40_ms,
       .stall = {{Cause::decode, 580_ms}},
       .why = {{Why::epoch, 200_ms}, {Why::capacity, 380_ms}}}},
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(Rest, KnownAnswer, testing::ValuesIn(kRest), name_of_case);

using CauseTimes = std::vector<std::pair<std::string, Nanos>>;

// Counted from the first ask: forks until 10, worker 0 is up at 35, reads until 39, decodes until
// 45; copy until 48.
TEST(KnownAnswerFirstBatch, SplitsByCause) {
  const Analysis analysis =
      analyse(run("workers=2 batch=1 executor=processes cost=startup.parent=5ms cost=startup=30ms "
                  "cost=read=4ms cost=decode=6ms cost=h2d=3ms compute=10ms warmup=5 steps=20"));
  EXPECT_EQ(analysis.first_batch_wall, 48_ms);
  EXPECT_EQ(analysis.first_batch_by_cause,
            (CauseTimes{{"read", 4_ms}, {"decode", 6_ms}, {"h2d", 3_ms}, {"startup", 35_ms}}));
}

// Without workers: 2 samples of 5 ms, sync copy 3, launch 2.
TEST(KnownAnswerFirstBatch, SplitsByCauseWithoutWorkers) {
  const Analysis analysis =
      analyse(run("workers=0 batch=2 cost=decode=5ms cost=h2d=3ms copy=sync cost=launch=2ms "
                  "compute=10ms warmup=5 steps=20"));
  EXPECT_EQ(analysis.first_batch_wall, 15_ms);
  EXPECT_EQ(analysis.first_batch_by_cause,
            (CauseTimes{{"decode", 10_ms}, {"h2d", 3_ms}, {"launch", 2_ms}}));
}

#undef EPOCHS_OF_TEN

}  // namespace
}  // namespace loaderscope::known_answer
