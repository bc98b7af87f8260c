// Shared cores: P of them, n threads that want one. Each runs at min(1, P/n) and waits for the
// rest of its time.
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

const Case kSharedCores[] = {
    // W = 2 on one core: T = 10 of work takes 20, half of it waiting. C = 2: bursts of 4 ms
    // compute; of the 16 idle ms half are contention.
    {"two_on_one",
     "workers=2 batch=1 cores=1 cost=decode=10ms compute=2ms warmup=2 steps=40",
     {{.window = 400_ms,
       .compute = 80_ms,
       .stall = {{Cause::decode, 160_ms}, {Cause::contention, 160_ms}},
       .why = {{Why::capacity, 320_ms}}}},
     kNoVerdict},
    // W = 4 on one core: 40 ms, 3/4 of them waiting. C = 2: idle 32 per burst: 24 contention.
    {"four_on_one",
     "workers=4 batch=1 cores=1 cost=decode=10ms compute=2ms warmup=4 steps=40",
     {{.window = 400_ms,
       .compute = 80_ms,
       .stall = {{Cause::decode, 80_ms}, {Cause::contention, 240_ms}},
       .why = {{Why::capacity, 320_ms}}}},
     "contention"},
    // W = 3 on two: 12 ms of work take 18, a third of them waiting. C = 1: idle 15: 5 contention.
    {"three_on_two",
     "workers=3 batch=1 cores=2 cost=decode=12ms compute=1ms warmup=3 steps=30",
     {{.window = 180_ms,
       .compute = 30_ms,
       .stall = {{Cause::decode, 100_ms}, {Cause::contention, 50_ms}},
       .why = {{Why::capacity, 150_ms}}}},
     "decode"},
    // W = 2 on 1.5: 12 ms take 16, a quarter of them waiting. C = 2: idle 12: 3 contention.
    {"two_on_one_and_a_half",
     "workers=2 batch=1 cores=1.5 cost=decode=12ms compute=2ms warmup=2 steps=40",
     {{.window = 320_ms,
       .compute = 80_ms,
       .stall = {{Cause::decode, 180_ms}, {Cause::contention, 60_ms}},
       .why = {{Why::capacity, 240_ms}}}},
     "decode"},
    // A quarter of a core: 10 ms take 40, 30 of them waiting. C = 4: idle 36: 27 contention.
    {"one_on_a_quarter",
     "workers=1 batch=1 cores=0.25 cost=decode=10ms compute=4ms warmup=2 steps=30",
     {{.window = 1200_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 270_ms}, {Cause::contention, 810_ms}},
       .why = {{Why::capacity, 1080_ms}}}},
     "contention"},
    {"two_on_two",
     "workers=2 batch=1 cores=2 cost=decode=10ms compute=2ms warmup=2 steps=40",
     {{.window = 200_ms,
       .compute = 80_ms,
       .stall = {{Cause::decode, 120_ms}},
       .why = {{Why::capacity, 120_ms}}}},
     "decode"},
    // A sleeping thread needs no core.
    {"sleeping_on_one",
     "workers=2 batch=1 cores=1 cost=decode=10ms:sleep compute=2ms warmup=2 steps=40",
     {{.window = 200_ms,
       .compute = 80_ms,
       .stall = {{Cause::decode, 120_ms}},
       .why = {{Why::capacity, 120_ms}}}},
     "decode"},
    // read sleeps for 10, decode works for 10, W = 2 on one core, in step: read [0, 10], decode
    // [10, 30]. Then both read again: a period of 30. C = 2: idle [4, 30]: read 6, decode 10,
    // contention 10.
    {"reading_is_not_working",
     "workers=2 batch=1 cores=1 cost=read=10ms cost=decode=10ms compute=2ms warmup=2 steps=40",
     {{.window = 600_ms,
       .compute = 80_ms,
       .stall = {{Cause::read, 120_ms}, {Cause::decode, 200_ms}, {Cause::contention, 200_ms}},
       .why = {{Why::capacity, 520_ms}}}},
     kNoVerdict},
    // Worker 1 has 20 ms of work, worker 0 10; C = 1.5, a window of 4 in order. Worker 0 is ahead
    // by as many batches as the window lets it: whenever worker 1 is finished, its batch and the
    // next one are taken, and each worker begins another. Both at half speed until 20, then
    // worker 0 rests and worker 1 has 10 ms alone: a period of 30 for two steps. Computes [0, 3];
    // idle [3, 30] for worker 1, whose 10 ms of waiting are spread over its 30: 9 contention, 18
    // decode. The next batch is there all the time. Before that worker 0 fills the window:
    // batch 0 is finished at 20, 1 and 2 at 40, 3 at 80 and 5 at 110; from step 5 on it is
    // periodic.
    {"unequal_work",
     "workers=2 batch=1 cores=1 cost=decode=10ms inject=decode=+10ms@worker=1 compute=1500us "
     "warmup=7 steps=40",
     {{.window = 600_ms,
       .compute = 60_ms,
       .stall = {{Cause::decode, 360_ms}, {Cause::contention, 180_ms}},
       .why = {{Why::capacity, 540_ms}},
       .order = 540_ms}},
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(SharedCores, KnownAnswer, testing::ValuesIn(kSharedCores), name_of_case);

const Case kScaling[] = {
    // Two cores at half their speed when both are busy: 10 ms of work take 20, but no thread waits
    // for a core.
    {"half_speed",
     "workers=2 batch=1 cores=2 core-scaling=0.5 cost=decode=10ms compute=2ms warmup=2 steps=40",
     {{.window = 400_ms,
       .compute = 80_ms,
       .stall = {{Cause::decode, 320_ms}},
       .why = {{Why::capacity, 320_ms}}}},
     "decode"},
    // One of them alone runs at full speed.
    {"full_speed_alone",
     "workers=1 batch=1 cores=2 core-scaling=0.5 cost=decode=10ms compute=4ms warmup=2 steps=30",
     {{.window = 300_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 180_ms}},
       .why = {{Why::capacity, 180_ms}}}},
     "decode"},
    // Linear in between: 3 of 5 cores busy, scaling 0.6: 1 - 0.4 x 2/4 = 0.8. 8 ms of work take
    // 10. C = 2: idle 4.
    {"in_between",
     "workers=3 batch=1 cores=5 core-scaling=0.6 cost=decode=8ms compute=2ms warmup=3 steps=30",
     {{.window = 100_ms,
       .compute = 60_ms,
       .stall = {{Cause::decode, 40_ms}},
       .why = {{Why::capacity, 40_ms}}}},
     "decode"},
    // Four on two cores at half speed: a quarter each. 5 ms of work take 20, half of them
    // waiting. C = 2: idle 12.
    {"waiting_and_half_speed",
     "workers=4 batch=1 cores=2 core-scaling=0.5 cost=decode=5ms compute=2ms warmup=4 steps=40",
     {{.window = 200_ms,
       .compute = 80_ms,
       .stall = {{Cause::decode, 60_ms}, {Cause::contention, 60_ms}},
       .why = {{Why::capacity, 120_ms}}}},
     kNoVerdict},
};
INSTANTIATE_TEST_SUITE_P(CoreScaling, KnownAnswer, testing::ValuesIn(kScaling), name_of_case);

const Case kOthers[] = {
    // The pin thread and the worker share the core, both have 10 ms of work: at the same time at
    // half speed. Batch k + 1 is made while k is pinned, a step takes 20 ms. C = 4: idle 16 while
    // k + 1 is pinned, half of it waiting for the core. It is not made any more, so there is no
    // why.
    {"pin_thread_and_worker",
     "workers=1 batch=1 cores=1 memory=pin-thread cost=decode=10ms cost=pin=10ms compute=4ms "
     "warmup=4 steps=30",
     {{.window = 600_ms,
       .compute = 120_ms,
       .stall = {{Cause::pin, 240_ms}, {Cause::contention, 240_ms}}}},
     kNoVerdict},
    // The same with a feeder: while it sends, half of the time it waits for the core.
    {"feeder_and_worker",
     "workers=1 batch=1 cores=1 cost=decode=10ms cost=transport=10ms compute=4ms warmup=4 steps=30",
     {{.window = 600_ms,
       .compute = 120_ms,
       .stall = {{Cause::transport, 240_ms}, {Cause::contention, 240_ms}}}},
     kNoVerdict},
    // And with the trainer, which receives.
    {"receiver_and_worker",
     "workers=1 batch=1 cores=1 cost=decode=10ms cost=transport.recv=10ms compute=4ms warmup=4 "
     "steps=30",
     {{.window = 600_ms,
       .compute = 120_ms,
       .stall = {{Cause::transport, 240_ms}, {Cause::contention, 240_ms}}}},
     kNoVerdict},

    // Pageable copies of 10 ms of work on the one core, on the compute stream, C = 4. Let a
    // compute end at 0: its trainer took the next batch 4 ms before, so the worker began another
    // one then and has 6 of its 10 ms left. Both run at half speed until 12, the copy alone until
    // 16: 6 of the 16 ms it waits for the core. Period 20.
    {"copy_and_worker",
     "workers=1 batch=4 cores=1 delivered-bytes=1MB link=4/0.4 memory=pageable cost=collate=10ms "
     "compute=4ms warmup=8 steps=30",
     {{.window = 600_ms,
       .compute = 120_ms,
       .stall = {{Cause::h2d, 300_ms}, {Cause::contention, 180_ms}}}},
     "h2d"},

    // The trainer launches with 10 ms of work, one step at a time: the worker makes the next batch
    // meanwhile, both at half speed, both done after 20. Then C = 4, and the trainer asks: a period
    // of 24. Idle 20, half of it waiting for the core.
    {"launch_and_worker",
     "workers=1 batch=1 cores=1 in-flight=1 cost=decode=10ms cost=launch=10ms compute=4ms "
     "warmup=4 steps=30",
     {{.window = 720_ms,
       .compute = 120_ms,
       .stall = {{Cause::launch, 300_ms}, {Cause::contention, 300_ms}}}},
     kNoVerdict},
    // On two cores it never waits: 10 ms, and C = 4.
    {"launch_and_worker_on_two",
     "workers=1 batch=1 cores=2 in-flight=1 cost=decode=10ms cost=launch=10ms compute=4ms "
     "warmup=4 steps=30",
     {{.window = 420_ms, .compute = 120_ms, .stall = {{Cause::launch, 300_ms}}}},
     "launch"},

    // Two ranks share one core as two workers of one would: 20 ms a batch, C = 4: idle 16, half
    // of it waiting.
    {"two_ranks_on_one",
     "ranks=2 workers=1 batch=1 cores=1 cost=decode=10ms compute=4ms warmup=2 steps=30",
     {{.window = 600_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 240_ms}, {Cause::contention, 240_ms}},
       .why = {{Why::capacity, 480_ms}}},
      {.window = 600_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 240_ms}, {Cause::contention, 240_ms}},
       .why = {{Why::capacity, 480_ms}}}},
     kNoVerdict},

    // Starting workers burns the core too: two of 10 ms each take 20, then two batches of 10 ms
    // again 20. An epoch of two steps, C = 4, N = 1: asked for at 0, up at 20, made at 40,
    // computed until 48. Startup is not split. Of the 20 ms of decode 10 are contention.
    {"startup_shares_the_core",
     "workers=2 batch=1 samples=2 epochs=11 in-flight=1 cores=1 cost=startup=10ms:cpu "
     "cost=decode=10ms compute=4ms warmup=2",
     {{.window = 480_ms,
       .compute = 80_ms,
       .stall = {{Cause::startup, 200_ms}, {Cause::decode, 100_ms}, {Cause::contention, 100_ms}},
       .why = {{Why::epoch, 400_ms}}}},
     "startup"},
};
INSTANTIATE_TEST_SUITE_P(SharedWithOthers, KnownAnswer, testing::ValuesIn(kOthers), name_of_case);

}  // namespace
}  // namespace loaderscope::known_answer
