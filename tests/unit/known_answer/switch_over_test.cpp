// At the edges: as many workers as needed, one fewer, one more; a window of one batch per worker
// against two; one step in flight against two.
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

Answer busy(Nanos window) { return {.window = window, .compute = window}; }

// T = 40, C = 10. W workers begin together and deliver W batches every 40 ms, which compute for
// 10 W. For the rest of the 40 ms, the device waits for worker 0, the first of the next burst. No
// worker rests.
const Case kWorkers[] = {
    {"one_of_four",
     "workers=1 batch=1 cost=decode=40ms compute=10ms warmup=2 steps=20",
     {{.window = 800_ms,
       .compute = 200_ms,
       .stall = {{Cause::decode, 600_ms}},
       .why = {{Why::capacity, 600_ms}}}},
     "decode"},
    {"two_of_four",
     "workers=2 batch=1 cost=decode=40ms compute=10ms warmup=2 steps=20",
     {{.window = 400_ms,
       .compute = 200_ms,
       .stall = {{Cause::decode, 200_ms}},
       .why = {{Why::capacity, 200_ms}}}},
     "decode"},
    {"one_too_few",
     "workers=3 batch=1 cost=decode=40ms compute=10ms warmup=3 steps=30",
     {{.window = 400_ms,
       .compute = 300_ms,
       .stall = {{Cause::decode, 100_ms}},
       .why = {{Why::capacity, 100_ms}}}},
     "decode"},
    {"exactly_enough",
     "workers=4 batch=1 cost=decode=40ms compute=10ms warmup=4 steps=40",
     {busy(400_ms)},
     "compute"},
    {"one_more",
     "workers=5 batch=1 cost=decode=40ms compute=10ms warmup=5 steps=40",
     {busy(400_ms)},
     "compute"},
    {"twice_as_many",
     "workers=8 batch=1 cost=decode=40ms compute=10ms warmup=8 steps=40",
     {busy(400_ms)},
     "compute"},

    // One ms slower than 4 workers can hide: 1 ms every 4 steps, under 5 % of the window.
    {"one_ms_too_slow",
     "workers=4 batch=1 cost=decode=41ms compute=10ms warmup=4 steps=40",
     {{.window = 410_ms,
       .compute = 400_ms,
       .stall = {{Cause::decode, 10_ms}},
       .why = {{Why::capacity, 10_ms}}}},
     "compute"},
    {"one_ms_to_spare",
     "workers=4 batch=1 cost=decode=39ms compute=10ms warmup=4 steps=40",
     {busy(400_ms)},
     "compute"},
};
INSTANTIATE_TEST_SUITE_P(Workers, KnownAnswer, testing::ValuesIn(kWorkers), name_of_case);

const Case kPrefetch[] = {
    // One batch per worker in flight. Taken while the step before computes, batch k sends its
    // worker to work on k + 4 in time: 4 C = T. As long as a batch is taken the moment it is
    // finished, a second one would not help.
    {"one_each_and_exactly_enough",
     "workers=4 batch=1 prefetch=1 cost=decode=40ms compute=10ms warmup=4 steps=40",
     {busy(400_ms)},
     "compute"},
    {"one_each_in_step",
     "workers=4 batch=1 prefetch=1 in-flight=1 cost=decode=40ms compute=10ms warmup=4 steps=40",
     {busy(400_ms)},
     "compute"},
    {"one_each_and_one_too_few",
     "workers=3 batch=1 prefetch=1 cost=decode=40ms compute=10ms warmup=3 steps=30",
     {{.window = 400_ms,
       .compute = 300_ms,
       .stall = {{Cause::decode, 100_ms}},
       .why = {{Why::capacity, 100_ms}}}},
     "decode"},

    // 5 ms of sending, N = 1: from one take of a worker's batch to the next are 40 + 5 ms. Four
    // steps of 10 and the last 5 ms of the sending. A second batch per worker hides them.
    {"one_each_and_a_way_of_5_ms",
     "workers=4 batch=1 prefetch=1 in-flight=1 cost=decode=40ms cost=transport=5ms:sleep "
     "compute=10ms warmup=4 steps=40",
     {{.window = 450_ms, .compute = 400_ms, .stall = {{Cause::transport, 50_ms}}}},
     "transport"},
    {"two_each_and_a_way_of_5_ms",
     "workers=4 batch=1 prefetch=2 in-flight=1 cost=decode=40ms cost=transport=5ms:sleep "
     "compute=10ms warmup=8 steps=40",
     {busy(400_ms)},
     "compute"},

    // W = 1, T = 10, 4 ms of sending. The worker rests while its only batch is on its way: g = 4.
    // A step takes 14 ms. C = 6: of the 8 idle ms 4 are decode, all for want of depth.
    {"depth",
     "workers=1 batch=1 prefetch=1 cost=decode=10ms cost=transport=4ms:sleep compute=6ms warmup=2 "
     "steps=30",
     {{.window = 420_ms,
       .compute = 180_ms,
       .stall = {{Cause::decode, 120_ms}, {Cause::transport, 120_ms}},
       .why = {{Why::depth, 120_ms}}}},
     kNoVerdict},
    // C = 1: 9 idle ms are decode. Beginning 4 ms earlier saves 4 of them, for the other 5 one
    // batch takes too long.
    {"depth_and_latency",
     "workers=1 batch=1 prefetch=1 cost=decode=10ms cost=transport=4ms:sleep compute=1ms warmup=2 "
     "steps=30",
     {{.window = 420_ms,
       .compute = 30_ms,
       .stall = {{Cause::decode, 270_ms}, {Cause::transport, 120_ms}},
       .why = {{Why::depth, 120_ms}, {Why::latency, 150_ms}}}},
     "decode"},
    // The rest is pin's instead: g = 6, C = 1.
    {"depth_behind_a_pin_thread",
     "workers=1 batch=1 prefetch=1 memory=pin-thread cost=decode=10ms cost=pin=6ms:sleep "
     "compute=1ms warmup=2 steps=30",
     {{.window = 480_ms,
       .compute = 30_ms,
       .stall = {{Cause::decode, 270_ms}, {Cause::pin, 180_ms}},
       .why = {{Why::depth, 180_ms}, {Why::latency, 90_ms}}}},
     "decode"},
    // With two the worker never rests, and a step takes as long as the slower of the two.
    {"two_deep_behind_a_pin_thread",
     "workers=1 batch=1 prefetch=2 memory=pin-thread cost=decode=10ms cost=pin=6ms:sleep "
     "compute=1ms warmup=2 steps=30",
     {{.window = 300_ms,
       .compute = 30_ms,
       .stall = {{Cause::decode, 90_ms}, {Cause::pin, 180_ms}},
       .why = {{Why::capacity, 90_ms}}}},
     "pin"},
};
INSTANTIATE_TEST_SUITE_P(Prefetch, KnownAnswer, testing::ValuesIn(kPrefetch), name_of_case);

const Case kInFlight[] = {
    // A copy stream of its own: with N = 2 batch k + 1 is taken and copied while k computes; with
    // N = 1 not.
    {"two_hide_the_copy",
     "workers=1 batch=1 copy=stream in-flight=2 cost=decode=1ms cost=h2d=4ms compute=10ms warmup=4 "
     "steps=30",
     {busy(300_ms)},
     "compute"},
    {"one_shows_the_copy",
     "workers=1 batch=1 copy=stream in-flight=1 cost=decode=1ms cost=h2d=4ms compute=10ms warmup=4 "
     "steps=30",
     {{.window = 420_ms, .compute = 300_ms, .stall = {{Cause::h2d, 120_ms}}}},
     "h2d"},
    // C = 10 hides 10 ms of a copy, not 12.
    {"copy_as_long_as_the_compute",
     "workers=1 batch=1 copy=stream cost=decode=1ms cost=h2d=10ms compute=10ms warmup=4 steps=30",
     {busy(300_ms)},
     "compute"},
    {"copy_longer_than_the_compute",
     "workers=1 batch=1 copy=stream cost=decode=1ms cost=h2d=12ms compute=10ms warmup=4 steps=30",
     {{.window = 360_ms, .compute = 300_ms, .stall = {{Cause::h2d, 60_ms}}}},
     "h2d"},
    {"launch_as_long_as_the_compute",
     "workers=1 batch=1 cost=decode=1ms cost=launch=10ms compute=10ms warmup=4 steps=30",
     {busy(300_ms)},
     "compute"},
    {"pin_as_long_as_the_compute",
     "workers=1 batch=1 memory=pin-thread cost=decode=1ms cost=pin=10ms compute=10ms warmup=4 "
     "steps=30",
     {busy(300_ms)},
     "compute"},
    {"pin_one_ms_longer",
     "workers=1 batch=1 memory=pin-thread cost=decode=1ms cost=pin=11ms compute=10ms warmup=4 "
     "steps=30",
     {{.window = 330_ms, .compute = 300_ms, .stall = {{Cause::pin, 30_ms}}}},
     "pin"},
    // The trainer receives for 6 ms. N = 1: after each compute. N = 2: during the one before,
    // which hides it.
    {"one_shows_the_receiving",
     "workers=1 batch=1 in-flight=1 cost=decode=1ms cost=transport.recv=6ms:sleep compute=10ms "
     "warmup=4 steps=30",
     {{.window = 480_ms, .compute = 300_ms, .stall = {{Cause::transport, 180_ms}}}},
     "transport"},
    {"two_hide_the_receiving",
     "workers=1 batch=1 in-flight=2 cost=decode=1ms cost=transport.recv=6ms:sleep compute=10ms "
     "warmup=4 steps=30",
     {busy(300_ms)},
     "compute"},
    // A third gives nothing that two do not.
    {"three_like_two",
     "workers=1 batch=1 in-flight=3 copy=stream cost=decode=1ms cost=h2d=12ms compute=10ms "
     "warmup=6 steps=30",
     {{.window = 360_ms, .compute = 300_ms, .stall = {{Cause::h2d, 60_ms}}}},
     "h2d"},
};
INSTANTIATE_TEST_SUITE_P(InFlight, KnownAnswer, testing::ValuesIn(kInFlight), name_of_case);

}  // namespace
}  // namespace loaderscope::known_answer
