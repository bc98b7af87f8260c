// One cause at a time: everything else is free or fast enough to be hidden.
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

// One worker that never rests finishes a batch every T = 10 ms: batch k at 10 (k + 1). Its
// compute follows at once and takes C = 4 ms, so of every 10 ms the device waits for 6: those in
// which the worker is 4 to 10 ms into the next batch. 30 steps: 300 = 120 + 180. The worker never
// rests: capacity.
Answer waits_6_of_10_for(Cause cause) {
  return {.window = 300_ms,
          .compute = 120_ms,
          .stall = {{cause, 180_ms}},
          .why = {{Why::capacity, 180_ms}}};
}

const Case kSingleMaking[] = {
    {"read",
     "workers=1 batch=1 cost=read=10ms compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for(Cause::read)},
     "read"},
    {"decompress_is_a_part_of_read",
     "workers=1 batch=1 cost=read.decompress=10ms compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for(Cause::read)},
     "read"},
    {"decode",
     "workers=1 batch=1 cost=decode=10ms compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for(Cause::decode)},
     "decode"},
    {"decode_that_sleeps",
     "workers=1 batch=1 cost=decode=10ms:sleep compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for(Cause::decode)},
     "decode"},
    {"augment",
     "workers=1 batch=1 cost=augment=10ms compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for(Cause::augment)},
     "augment"},

    // Once per batch, however many samples.
    {"collate",
     "workers=1 batch=8 cost=collate=10ms compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for(Cause::collate)},
     "collate"},

    // 8 samples of 1.25 ms.
    {"samples_add_up",
     "workers=1 batch=8 cost=decode=1250us compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for(Cause::decode)},
     "decode"},

    // 1 MB at 100 MB/s of stored bytes; 4 x 1 MB at 400 MB/s of delivered bytes.
    {"rate_of_stored_bytes",
     "workers=1 batch=1 stored-bytes=1MB cost=read=100MB/s compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for(Cause::read)},
     "read"},
    {"rate_of_delivered_bytes",
     "workers=1 batch=4 delivered-bytes=1MB cost=collate=400MB/s compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for(Cause::collate)},
     "collate"},

    // An injection is as good as a cost, alone or on top of one.
    {"injection_alone",
     "workers=1 batch=1 inject=augment=+10ms compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for(Cause::augment)},
     "augment"},
    {"injection_on_top",
     "workers=1 batch=1 cost=decode=7ms inject=decode=+3ms compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for(Cause::decode)},
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(SingleMaking, KnownAnswer, testing::ValuesIn(kSingleMaking), name_of_case);

const Case kHandingOver[] = {
    // Made in 2 ms, sent in 10: one feeder sends one batch after another. Batch k is delivered at
    // 12 + 10 k, and batch k + 1 has been finished for long when the device begins to wait for
    // it. Transport is not production: it has no why.
    {"transport",
     "workers=1 batch=1 cost=decode=2ms cost=transport=10ms:sleep compute=4ms warmup=2 steps=30",
     {{.window = 300_ms, .compute = 120_ms, .stall = {{Cause::transport, 180_ms}}}},
     "transport"},

    // The trainer receives for 6 ms, then launches and asks again at once: a step every 6 ms, 2
    // of them idle.
    {"receiving_by_the_trainer",
     "workers=1 batch=1 cost=decode=2ms cost=transport.recv=6ms:sleep compute=4ms warmup=2 "
     "steps=30",
     {{.window = 180_ms, .compute = 120_ms, .stall = {{Cause::transport, 60_ms}}}},
     "transport"},

    // N = 1: the trainer asks when the compute has ended: 6 + 4 ms a step.
    {"receiving_in_step",
     "workers=1 batch=1 in-flight=1 cost=decode=2ms cost=transport.recv=6ms:sleep compute=4ms "
     "warmup=2 steps=30",
     {{.window = 300_ms, .compute = 120_ms, .stall = {{Cause::transport, 180_ms}}}},
     "transport"},

    // The pin thread receives: batch k + 1 waits for it while it receives k, that is during
    // compute k - 1 and 2 ms more. Then the batch is received for 6 ms, the last 2 of them idle.
    {"receiving_by_the_pin_thread",
     "workers=1 batch=1 memory=pin-thread cost=decode=2ms cost=transport.recv=6ms:sleep "
     "compute=4ms warmup=2 steps=30",
     {{.window = 180_ms, .compute = 120_ms, .stall = {{Cause::transport, 60_ms}}}},
     "transport"},

    {"pin",
     "workers=1 batch=1 memory=pin-thread cost=decode=2ms cost=pin=6ms compute=4ms warmup=2 "
     "steps=30",
     {{.window = 180_ms, .compute = 120_ms, .stall = {{Cause::pin, 60_ms}}}},
     "pin"},

    // The compute stream has a copy of 3 ms before each compute of 4.
    {"h2d",
     "workers=1 batch=1 cost=decode=1ms cost=h2d=3ms compute=4ms warmup=4 steps=30",
     {{.window = 210_ms, .compute = 120_ms, .stall = {{Cause::h2d, 90_ms}}}},
     "h2d"},

    // N = 1: taken at the end of a compute, launched 3 ms later.
    {"launch",
     "workers=1 batch=1 in-flight=1 cost=decode=1ms cost=launch=3ms compute=4ms warmup=2 steps=30",
     {{.window = 210_ms, .compute = 120_ms, .stall = {{Cause::launch, 90_ms}}}},
     "launch"},

    // N = 2: the trainer launches k while k - 1 computes. 3 of 4 ms are hidden; of 6 stick out 2,
    // a step every 6.
    {"launch_hidden",
     "workers=1 batch=1 cost=decode=1ms cost=launch=3ms compute=4ms warmup=4 steps=30",
     {{.window = 120_ms, .compute = 120_ms}},
     "compute"},
    {"launch_too_long",
     "workers=1 batch=1 cost=decode=1ms cost=launch=6ms compute=4ms warmup=4 steps=30",
     {{.window = 180_ms, .compute = 120_ms, .stall = {{Cause::launch, 60_ms}}}},
     "launch"},

    {"compute",
     "workers=1 batch=1 cost=decode=1ms compute=4ms warmup=4 steps=30",
     {{.window = 120_ms, .compute = 120_ms}},
     "compute"},

    // A device that drops its batches: nothing is busy, every ns is the loader's.
    {"no_device",
     "workers=1 batch=1 device=null cost=decode=10ms warmup=2 steps=30",
     {{.window = 300_ms, .stall = {{Cause::decode, 300_ms}}, .why = {{Why::capacity, 300_ms}}}},
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(SingleHandingOver, KnownAnswer, testing::ValuesIn(kHandingOver),
                         name_of_case);

}  // namespace
}  // namespace loaderscope::known_answer
