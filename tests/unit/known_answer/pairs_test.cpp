// Two and more causes in one step: where one ends and the next begins.
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

const Case kMaking[] = {
    // T = 10: read [0, 2], decode [2, 5], augment [5, 9], collate [9, 10]. C = 4 hides the first
    // 4 ms: decode 1, augment 4, collate 1 of every step.
    {"all_that_a_worker_does",
     "workers=1 batch=1 cost=read=2ms cost=decode=3ms cost=augment=4ms cost=collate=1ms "
     "compute=4ms warmup=2 steps=30",
     {{.window = 300_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 30_ms}, {Cause::augment, 120_ms}, {Cause::collate, 30_ms}},
       .why = {{Why::capacity, 180_ms}}}},
     "augment"},

    // Two samples: read [0, 1] [4, 5], decode [1, 3] [5, 7], augment [3, 4] [7, 8], collate
    // [8, 10]. C = 5 hides the first five: decode 2, augment 1, collate 2. Decode and collate are
    // equal, so neither is named.
    {"two_samples_and_a_tie",
     "workers=1 batch=2 cost=read=1ms cost=decode=2ms cost=augment=1ms cost=collate=2ms "
     "compute=5ms warmup=2 steps=30",
     {{.window = 300_ms,
       .compute = 150_ms,
       .stall = {{Cause::decode, 60_ms}, {Cause::augment, 30_ms}, {Cause::collate, 60_ms}},
       .why = {{Why::capacity, 150_ms}}}},
     kNoVerdict},
};
INSTANTIATE_TEST_SUITE_P(Making, KnownAnswer, testing::ValuesIn(kMaking), name_of_case);

// T = 10 and a way of 4 ms from the worker to the device, C = 3: batch k is finished at 10
// (k + 1), its compute is [4, 7] after that. From 7 to 10 the device waits for the worker
// (decode 3), from 10 to 14 for `way`.
Answer decode_and(std::map<Cause, Nanos> way) {
  way[Cause::decode] = 90_ms;
  return {
      .window = 300_ms, .compute = 90_ms, .stall = std::move(way), .why = {{Why::capacity, 90_ms}}};
}

const Case kMakingAndMoving[] = {
    {"decode_and_sending",
     "workers=1 batch=1 cost=decode=10ms cost=transport=4ms:sleep compute=3ms warmup=2 steps=30",
     {decode_and({{Cause::transport, 120_ms}})},
     "transport"},
    {"decode_and_receiving",
     "workers=1 batch=1 cost=decode=10ms cost=transport.recv=4ms:sleep compute=3ms warmup=2 "
     "steps=30",
     {decode_and({{Cause::transport, 120_ms}})},
     "transport"},
    {"decode_and_pin",
     "workers=1 batch=1 memory=pin-thread cost=decode=10ms cost=pin=4ms:sleep compute=3ms warmup=2 "
     "steps=30",
     {decode_and({{Cause::pin, 120_ms}})},
     "pin"},
    {"decode_receiving_and_pin",
     "workers=1 batch=1 memory=pin-thread cost=decode=10ms cost=transport.recv=2ms:sleep "
     "cost=pin=2ms:sleep compute=3ms warmup=2 steps=30",
     {decode_and({{Cause::transport, 60_ms}, {Cause::pin, 60_ms}})},
     "decode"},
    {"decode_and_h2d",
     "workers=1 batch=1 cost=decode=10ms cost=h2d=4ms compute=3ms warmup=2 steps=30",
     {decode_and({{Cause::h2d, 120_ms}})},
     "h2d"},
    {"decode_and_launch",
     "workers=1 batch=1 cost=decode=10ms cost=launch=4ms compute=3ms warmup=2 steps=30",
     {decode_and({{Cause::launch, 120_ms}})},
     "launch"},
    {"decode_and_one_ms_of_each",
     "workers=1 batch=1 memory=pin-thread copy=sync cost=decode=10ms cost=transport=1ms:sleep "
     "cost=pin=1ms cost=h2d=1ms cost=launch=1ms compute=3ms warmup=2 steps=30",
     {decode_and({{Cause::transport, 30_ms},
                  {Cause::pin, 30_ms},
                  {Cause::h2d, 30_ms},
                  {Cause::launch, 30_ms}})},
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(MakingAndMoving, KnownAnswer, testing::ValuesIn(kMakingAndMoving),
                         name_of_case);

const Case kMoving[] = {
    // A batch is sent while the worker makes the next one. C = 6, T = 10 and 4 ms of sending: the
    // device only waits for the 4 ms in which the awaited batch is on its way.
    {"sending_alone_shows",
     "workers=1 batch=1 cost=decode=10ms cost=transport=4ms:sleep compute=6ms warmup=2 steps=30",
     {{.window = 300_ms, .compute = 180_ms, .stall = {{Cause::transport, 120_ms}}}},
     "transport"},

    // Sent every 10 ms; copy 3, compute 4; then 3 ms more until the next is sent.
    {"transport_and_h2d",
     "workers=1 batch=1 cost=decode=2ms cost=transport=10ms:sleep cost=h2d=3ms compute=4ms "
     "warmup=2 steps=30",
     {{.window = 300_ms,
       .compute = 120_ms,
       .stall = {{Cause::transport, 90_ms}, {Cause::h2d, 90_ms}}}},
     kNoVerdict},
    {"pin_and_h2d",
     "workers=1 batch=1 memory=pin-thread cost=decode=2ms cost=pin=10ms:sleep cost=h2d=4ms "
     "compute=4ms warmup=2 steps=30",
     {{.window = 300_ms, .compute = 120_ms, .stall = {{Cause::pin, 60_ms}, {Cause::h2d, 120_ms}}}},
     "h2d"},

    // A feeder of 10 ms and a pin thread of 6, one after the other: sent at 10 k, pinned until 10
    // k + 6, computed until 10 k + 8. Until 10 k + 10 the next is being sent, until 10 k + 16
    // pinned.
    {"transport_and_pin",
     "workers=1 batch=1 memory=pin-thread cost=decode=2ms cost=transport=10ms:sleep "
     "cost=pin=6ms:sleep compute=2ms warmup=2 steps=30",
     {{.window = 300_ms,
       .compute = 60_ms,
       .stall = {{Cause::transport, 60_ms}, {Cause::pin, 180_ms}}}},
     "pin"},

    // N = 1, at the end of a compute both begin: a copy of 3 ms and the launching of 5. Where
    // they overlap it is the copy.
    {"copy_hides_a_part_of_the_launch",
     "workers=1 batch=1 in-flight=1 cost=decode=1ms cost=h2d=3ms cost=launch=5ms compute=4ms "
     "warmup=2 steps=30",
     {{.window = 270_ms,
       .compute = 120_ms,
       .stall = {{Cause::h2d, 90_ms}, {Cause::launch, 60_ms}}}},
     "h2d"},
    // N = 2: launched while the step before computes; only the copy shows.
    {"compute_hides_all_of_the_launch",
     "workers=1 batch=1 cost=decode=1ms cost=h2d=3ms cost=launch=5ms compute=4ms warmup=4 steps=30",
     {{.window = 210_ms, .compute = 120_ms, .stall = {{Cause::h2d, 90_ms}}}},
     "h2d"},
    // A host that waits for its copy launches after it, and N does not matter.
    {"sync_copy_then_launch",
     "workers=1 batch=1 copy=sync cost=decode=1ms cost=h2d=3ms cost=launch=5ms compute=4ms "
     "warmup=4 steps=30",
     {{.window = 360_ms,
       .compute = 120_ms,
       .stall = {{Cause::h2d, 90_ms}, {Cause::launch, 150_ms}}}},
     "launch"},
    {"sync_copy_then_launch_in_step",
     "workers=1 batch=1 copy=sync in-flight=1 cost=decode=1ms cost=h2d=3ms cost=launch=5ms "
     "compute=4ms warmup=4 steps=30",
     {{.window = 360_ms,
       .compute = 120_ms,
       .stall = {{Cause::h2d, 90_ms}, {Cause::launch, 150_ms}}}},
     "launch"},
};
INSTANTIATE_TEST_SUITE_P(Moving, KnownAnswer, testing::ValuesIn(kMoving), name_of_case);

}  // namespace
}  // namespace loaderscope::known_answer
