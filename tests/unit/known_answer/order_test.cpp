// Slow batches in front of fast ones: what the order costs, and what delivery in any order gives
// back.
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

const Case kSlowWorker[] = {
    // Worker 0 needs 40 ms, worker 1 10 ms, C = 5. In order both give one batch per 40 ms:
    // computes [0, 10], then idle until 40 for worker 0, which never rests. Its rival's batch has
    // been there since 10: all 30 ms are order.
    {"in_order",
     "workers=2 batch=1 cost=decode=10ms:sleep inject=decode=+30ms@worker=0 compute=5ms warmup=2 "
     "steps=40",
     {{.window = 800_ms,
       .compute = 200_ms,
       .stall = {{Cause::decode, 600_ms}},
       .why = {{Why::capacity, 600_ms}},
       .order = 600_ms}},
     "decode"},
    {"in_order_one_each",
     "workers=2 batch=1 prefetch=1 cost=decode=10ms:sleep inject=decode=+30ms@worker=0 compute=5ms "
     "warmup=2 steps=40",
     {{.window = 800_ms,
       .compute = 200_ms,
       .stall = {{Cause::decode, 600_ms}},
       .why = {{Why::capacity, 600_ms}},
       .order = 600_ms}},
     "decode"},

    // In any order both work all the time: at 0 one batch of each, at 10, 20 and 30 one of worker
    // 1. Five computes in 40 ms: [0, 10], [10, 15], [20, 25], [30, 35]; idle [15, 20], [25, 30],
    // [35, 40]. The first 40 ms give steps 0 to 4, the last of which ends at 50.
    {"any_order",
     "workers=2 batch=1 in-order=false cost=decode=10ms:sleep inject=decode=+30ms@worker=0 "
     "compute=5ms warmup=5 steps=50",
     {{.window = 400_ms,
       .compute = 250_ms,
       .stall = {{Cause::decode, 150_ms}},
       .why = {{Why::capacity, 150_ms}}}},
     "decode"},
    {"any_order_one_each",
     "workers=2 batch=1 prefetch=1 in-order=false cost=decode=10ms:sleep "
     "inject=decode=+30ms@worker=0 compute=5ms warmup=5 steps=50",
     {{.window = 400_ms,
       .compute = 250_ms,
       .stall = {{Cause::decode, 150_ms}},
       .why = {{Why::capacity, 150_ms}}}},
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(SlowWorker, KnownAnswer, testing::ValuesIn(kSlowWorker), name_of_case);

// One sample in 200 takes 50 ms more. W = 2, ten samples of 1 ms a batch: T = 10, but batches
// s = 19, 39, ... need 60. C = 8: the loader is faster than the device, so all four batches of
// the window are finished but those just dispatched. Let compute k begin at 8 k. Batch s is
// dispatched at the take of s - 4, which is at the end of compute s - 6: at 8 (s - 5). Its worker
// has rested since 8 (s - 7) + 10: g = 6. It is finished at 8 (s - 5) + 60 = 8 s + 20: a stall of
// 20, of which 6 depth and 14 latency, while batch s + 1 waits: order 20. Twelve steps later all
// is as before. In 200 steps there are ten such stalls.
constexpr const char* kOneSlowSample =
    "workers=2 batch=10 cost=decode=1ms:sleep inject=decode=+50ms@every=200 compute=8ms warmup=25 "
    "steps=200";

// C = 10 = T. In order: dispatched at 10 (s - 5) after a rest of 10, finished at 10 s + 10: a
// stall of 10, all depth. In any order the other worker keeps the device busy with a batch every
// 10 ms.
constexpr const char* kOneSlowSampleInTime =
    "workers=2 batch=10 cost=decode=1ms:sleep inject=decode=+50ms@every=200 compute=10ms warmup=25 "
    "steps=200";
constexpr const char* kOneSlowSampleInAnyOrder =
    "workers=2 batch=10 in-order=false cost=decode=1ms:sleep inject=decode=+50ms@every=200 "
    "compute=10ms warmup=25 steps=200";

// Four batches more in flight: dispatched at 8 (s - 9) after a rest of 6, finished at 8 s - 12.
constexpr const char* kOneSlowSampleDeep =
    "workers=2 batch=10 prefetch=4 cost=decode=1ms:sleep inject=decode=+50ms@every=200 compute=8ms "
    "warmup=25 steps=200";
// Three instead of two per worker: dispatched at 8 (s - 7), finished at 8 s + 4, a stall of 4
// with g = 6: depth.
constexpr const char* kOneSlowSampleDeeper =
    "workers=2 batch=10 prefetch=3 cost=decode=1ms:sleep inject=decode=+50ms@every=200 compute=8ms "
    "warmup=25 steps=200";
// One per worker: taken at 8 (s - 3) after a rest, finished at 8 (s - 3) + 60 = 8 s + 36. Rest:
// the batch before it was dispatched at 8 (s - 5), finished 10 later: g = 6.
constexpr const char* kOneSlowSampleShallow =
    "workers=2 batch=10 prefetch=1 cost=decode=1ms:sleep inject=decode=+50ms@every=200 compute=8ms "
    "warmup=25 steps=200";

const Case kSlowSample[] = {
    {"one_slow_sample_in_200",
     kOneSlowSample,
     {{.window = 1800_ms,
       .compute = 1600_ms,
       .stall = {{Cause::decode, 200_ms}},
       .why = {{Why::depth, 60_ms}, {Why::latency, 140_ms}},
       .order = 200_ms}},
     "decode"},
    {"in_time",
     kOneSlowSampleInTime,
     {{.window = 2100_ms,
       .compute = 2000_ms,
       .stall = {{Cause::decode, 100_ms}},
       .why = {{Why::depth, 100_ms}},
       .order = 100_ms}},
     "compute"},
    {"in_any_order",
     kOneSlowSampleInAnyOrder,
     {{.window = 2000_ms, .compute = 2000_ms}},
     "compute"},
    {"window_of_two",
     kOneSlowSampleShallow,
     {{.window = 1960_ms,
       .compute = 1600_ms,
       .stall = {{Cause::decode, 360_ms}},
       .why = {{Why::depth, 60_ms}, {Why::latency, 300_ms}},
       .order = 360_ms}},
     "decode"},
    {"window_of_six",
     kOneSlowSampleDeeper,
     {{.window = 1640_ms,
       .compute = 1600_ms,
       .stall = {{Cause::decode, 40_ms}},
       .why = {{Why::depth, 40_ms}},
       .order = 40_ms}},
     "compute"},
    {"window_of_eight", kOneSlowSampleDeep, {{.window = 1600_ms, .compute = 1600_ms}}, "compute"},
};
INSTANTIATE_TEST_SUITE_P(SlowSample, KnownAnswer, testing::ValuesIn(kSlowSample), name_of_case);

const Case kSlowStages[] = {
    // W = 2, one batch each, T = 10. Every other batch (1, 3, ...: worker 1's) is 10 ms longer in
    // read. C = 1. Both begin at 0: worker 0 is finished at 10, compute [10, 11]; worker 1 at 20.
    // Batch 0 is taken at 10, so worker 0 begins batch 2 at 10 and is finished at 20, just when
    // batch 1 comes. Both are taken at 20: batch 1 computes [20, 21], batch 2 [21, 22]. Worker 0
    // begins batch 4 and worker 1 batch 3 at 20. Batch 4 is finished at 30, batch 3 at 40. From
    // there the period is 20 ms and two steps. Batch 3 is awaited from 22 to 40, in read (its
    // first 10 ms) for 8, then in decode for 10; batch 4 waits 10 of them for it.
    {"injection_into_read",
     "workers=2 batch=1 prefetch=1 cost=decode=10ms:sleep inject=read=+10ms@every=2 compute=1ms "
     "warmup=3 steps=40",
     {{.window = 400_ms,
       .compute = 40_ms,
       .stall = {{Cause::read, 160_ms}, {Cause::decode, 200_ms}},
       .why = {{Why::capacity, 360_ms}},
       .order = 200_ms}},
     "decode"},

    // The trainer receives, 2 ms, in the order of arrival. Worker 0 needs 40 ms, worker 1 10;
    // C = 5; one batch each. Batch 2j arrives at 0, is received until 2 and computed [2, 7].
    // Batch 2j + 1 has long been received: it is taken at 2 too, computed [7, 12]. So worker 0
    // begins again at 2 and so does worker 1, whose batch comes at 12 and is received in
    // [12, 14]. Worker 0's comes at 42 and is taken at 44: a period of 42. Idle from 12 to 44:
    // decode until 42, transport 2. Worker 0 rests from 0 to 2: depth 2, latency 28. The later
    // batch is deliverable from 12 to 42: order 30.
    {"received_early",
     "workers=2 batch=1 prefetch=1 cost=decode=10ms:sleep inject=decode=+30ms@worker=0 "
     "cost=transport.recv=2ms:sleep compute=5ms warmup=2 steps=40",
     {{.window = 840_ms,
       .compute = 200_ms,
       .stall = {{Cause::decode, 600_ms}, {Cause::transport, 40_ms}},
       .why = {{Why::depth, 40_ms}, {Why::latency, 560_ms}},
       .order = 600_ms}},
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(SlowStages, KnownAnswer, testing::ValuesIn(kSlowStages), name_of_case);

}  // namespace
}  // namespace loaderscope::known_answer
