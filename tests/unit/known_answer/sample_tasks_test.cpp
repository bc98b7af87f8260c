// Sample tasks: the samples of a batch are spread over the workers; who finishes the last one
// collates.
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

const Case kRounds[] = {
    // 8 samples of 10 ms for 4 workers: two rounds. With a window of 1 the next batch is begun
    // when this one is taken, at the moment it is finished: no worker rests. C = 5: 15 of 20 ms
    // idle.
    {"two_rounds",
     "task=sample workers=4 batch=8 prefetch-depth=1 cost=decode=10ms compute=5ms warmup=2 "
     "steps=20",
     {{.window = 400_ms,
       .compute = 100_ms,
       .stall = {{Cause::decode, 300_ms}},
       .why = {{Why::capacity, 300_ms}}}},
     "decode"},
    // A ninth: a third round, which worker 0 makes alone while the others rest. The account
    // follows worker 0, which does not. C = 10: 20 of 30 ms idle.
    {"a_round_for_one",
     "task=sample workers=4 batch=9 prefetch-depth=1 cost=decode=10ms compute=10ms warmup=2 "
     "steps=20",
     {{.window = 600_ms,
       .compute = 200_ms,
       .stall = {{Cause::decode, 400_ms}},
       .why = {{Why::capacity, 400_ms}}}},
     "decode"},
    // With a window of 2 the others begin the next batch: 36 samples, four batches, in 9
    // rounds; they are finished after rounds 3, 5, 7 and 9. C = 10: 50 of 90 ms idle.
    {"no_round_for_one",
     "task=sample workers=4 batch=9 prefetch-depth=2 cost=decode=10ms compute=10ms warmup=4 "
     "steps=20",
     {{.window = 450_ms,
       .compute = 200_ms,
       .stall = {{Cause::decode, 250_ms}},
       .why = {{Why::capacity, 250_ms}}}},
     "decode"},
    // Equal numbers of samples and workers: a batch every 10 ms, which is C.
    {"exactly_enough",
     "task=sample workers=4 batch=4 prefetch-depth=2 cost=decode=10ms compute=10ms warmup=4 "
     "steps=20",
     {{.window = 200_ms, .compute = 200_ms}},
     "compute"},
    // Fewer samples than workers, a window of 2: two batches at a time, each by its own pair.
    {"two_batches_at_a_time",
     "task=sample workers=4 batch=2 prefetch-depth=2 cost=decode=10ms compute=4ms warmup=4 "
     "steps=40",
     {{.window = 200_ms,
       .compute = 160_ms,
       .stall = {{Cause::decode, 40_ms}},
       .why = {{Why::capacity, 40_ms}}}},
     "decode"},
    // A worker for each sample and one batch at a time: half of them never work.
    {"one_batch_at_a_time",
     "task=sample workers=4 batch=2 prefetch-depth=1 cost=decode=10ms compute=4ms warmup=4 "
     "steps=40",
     {{.window = 400_ms,
       .compute = 160_ms,
       .stall = {{Cause::decode, 240_ms}},
       .why = {{Why::capacity, 240_ms}}}},
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(SampleRounds, KnownAnswer, testing::ValuesIn(kRounds), name_of_case);

const Case kOther[] = {
    // Two samples of 10 ms, two workers, 5 ms of sending, a window of 1: both rest for 5 of
    // 15 ms. C = 4: idle 6 in decode (depth 5, latency 1) and 5 in transport.
    {"depth_and_latency",
     "task=sample workers=2 batch=2 prefetch-depth=1 cost=decode=10ms cost=transport=5ms:sleep "
     "compute=4ms "
     "warmup=2 steps=20",
     {{.window = 300_ms,
       .compute = 80_ms,
       .stall = {{Cause::decode, 120_ms}, {Cause::transport, 100_ms}},
       .why = {{Why::depth, 100_ms}, {Why::latency, 20_ms}}}},
     "decode"},

    // 4 samples of 5 ms and 4 ms of collating, two workers, a window of 2; 24 ms of work for each
    // batch, 12 for each worker. Finished at 14 and 28 (by worker 1); then at 39 (by 0), 52
    // (by 1), 63, 76, ...: alternately 11 and 13 ms. Worker 0: sample 4 of batch 2 [30, 35],
    // collate [35, 39]. Worker 1: sample 4 of batch 3 [43, 48], collate [48, 52]. C = 4: computes
    // [28, 32], [39, 43]: idle [32, 39]: 3 decode, 4 collate; idle [43, 52]: 5 decode, 4 collate.
    {"collate",
     "task=sample workers=2 batch=4 prefetch-depth=2 cost=decode=5ms cost=collate=4ms compute=4ms "
     "warmup=2 "
     "steps=20",
     {{.window = 240_ms,
       .compute = 80_ms,
       .stall = {{Cause::decode, 80_ms}, {Cause::collate, 80_ms}},
       .why = {{Why::capacity, 160_ms}}}},
     kNoVerdict},

    // Worker 0 needs 40 ms a sample, worker 1 10; batches of one, a window of 4, C = 5. In order:
    // worker 0 makes batch 4j, worker 1 the next three and then rests until 4j is taken. Four
    // steps every 40 ms: 20 idle, for worker 0, with later batches at hand.
    {"slow_worker_in_order",
     "task=sample workers=2 batch=1 prefetch-depth=4 cost=decode=10ms:sleep "
     "inject=decode=+30ms@worker=0 "
     "compute=5ms warmup=4 steps=40",
     {{.window = 400_ms,
       .compute = 200_ms,
       .stall = {{Cause::decode, 200_ms}},
       .why = {{Why::capacity, 200_ms}},
       .order = 200_ms}},
     "decode"},
    // Worker 1 continues if batches come in any order: five steps every 40 ms.
    {"slow_worker_in_any_order",
     "task=sample workers=2 batch=1 prefetch-depth=4 in-order=false cost=decode=10ms:sleep "
     "inject=decode=+30ms@worker=0 compute=5ms warmup=5 steps=50",
     {{.window = 400_ms,
       .compute = 250_ms,
       .stall = {{Cause::decode, 150_ms}},
       .why = {{Why::capacity, 150_ms}}}},
     "decode"},

    // Two workers share a core and a batch: 10 ms of work for each sample take 20. C = 4: of 16
    // idle ms half are waiting.
    {"shared_core",
     "task=sample workers=2 batch=2 prefetch-depth=1 cores=1 cost=decode=10ms compute=4ms warmup=2 "
     "steps=20",
     {{.window = 400_ms,
       .compute = 80_ms,
       .stall = {{Cause::decode, 160_ms}, {Cause::contention, 160_ms}},
       .why = {{Why::capacity, 320_ms}}}},
     kNoVerdict},

    // Epochs of ten batches of two, two workers: a batch every 10 ms, C = 10. Let an epoch end at
    // 0; N = 2: asked for at -10, up at 20, first batch at 30.
    {"workers_restarted",
     "task=sample workers=2 batch=2 samples=20 epochs=21 cost=startup=30ms cost=decode=10ms:sleep "
     "compute=10ms warmup=10",
     {{.window = 2600_ms,
       .compute = 2000_ms,
       .stall = {{Cause::startup, 400_ms}, {Cause::decode, 200_ms}},
       .why = {{Why::epoch, 600_ms}}}},
     "startup"},

    // A short last batch: 7 samples in batches of 4 and 3; two workers kept; 10 ms a sample.
    // Asked for at the take of the last one, all rounds are full but the last of the short batch:
    // 20 and 20 ms. C = 4: 16 idle, for the first step of each epoch with why = epoch.
    {"short_last_batch",
     "task=sample workers=2 batch=4 prefetch-depth=1 samples=7 epochs=11 persistent-workers=true "
     "cost=decode=10ms compute=4ms warmup=2",
     {{.window = 400_ms,
       .compute = 80_ms,
       .stall = {{Cause::decode, 320_ms}},
       .why = {{Why::epoch, 160_ms}, {Why::capacity, 160_ms}}}},
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(SampleTasks, KnownAnswer, testing::ValuesIn(kOther), name_of_case);

}  // namespace
}  // namespace loaderscope::known_answer
