// Copies to the device: where a batch lies, who copies it, and what hides the copy.
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

// A batch of 4 MB over a link of 4 GB/s from page-locked and 1 GB/s from pageable memory: 1 ms or
// 4 ms. Making it takes 1 ms and never shows. C = 10, 30 steps.
#define BATCH_OF_4_MB \
  "workers=1 batch=4 delivered-bytes=1MB link=4/1 cost=collate=1ms compute=10ms warmup=4 steps=30"

Answer copy_shows(Nanos ns) {
  return {.window = 300_ms + 30 * ns, .compute = 300_ms, .stall = {{Cause::h2d, 30 * ns}}};
}
const Answer kHidden = {.window = 300_ms, .compute = 300_ms};

const Case kMemory[] = {
    {"pinned_slots", BATCH_OF_4_MB " memory=pinned-slots", {copy_shows(1_ms)}, "h2d"},
    {"registered", BATCH_OF_4_MB " memory=registered", {copy_shows(1_ms)}, "h2d"},
    {"write_combined", BATCH_OF_4_MB " memory=write-combined", {copy_shows(1_ms)}, "h2d"},
    {"pageable", BATCH_OF_4_MB " memory=pageable", {copy_shows(4_ms)}, "h2d"},
    {"no_pin_memory_is_pageable", BATCH_OF_4_MB " no-pin-memory=true", {copy_shows(4_ms)}, "h2d"},

    // A thread pins: the compute hides its 7 ms, but not the copy of 1 ms.
    {"pin_thread", BATCH_OF_4_MB " memory=pin-thread cost=pin=7ms", {copy_shows(1_ms)}, "h2d"},
    {"pin_memory_is_pin_thread",
     BATCH_OF_4_MB " pin-memory=true cost=pin=7ms",
     {copy_shows(1_ms)},
     "h2d"},
    // A cost of pin without a pin thread is not paid.
    {"no_pin_thread_no_pin",
     BATCH_OF_4_MB " memory=pinned-slots cost=pin=70ms",
     {copy_shows(1_ms)},
     "h2d"},
};
INSTANTIATE_TEST_SUITE_P(Memory, KnownAnswer, testing::ValuesIn(kMemory), name_of_case);

const Case kModes[] = {
    {"pinned_sync", BATCH_OF_4_MB " copy=sync", {copy_shows(1_ms)}, "h2d"},
    {"pinned_async", BATCH_OF_4_MB " copy=async", {copy_shows(1_ms)}, "h2d"},
    {"pinned_stream", BATCH_OF_4_MB " copy=stream", {kHidden}, "compute"},
    {"pinned_stream_in_step", BATCH_OF_4_MB " copy=stream in-flight=1", {copy_shows(1_ms)}, "h2d"},

    // From pageable memory the trainer copies itself, on the compute stream once that is free ...
    {"pageable_sync", BATCH_OF_4_MB " copy=sync memory=pageable", {copy_shows(4_ms)}, "h2d"},
    {"pageable_async", BATCH_OF_4_MB " copy=async memory=pageable", {copy_shows(4_ms)}, "h2d"},
    // ... on a stream of its own during the compute of the step before.
    {"pageable_stream", BATCH_OF_4_MB " copy=stream memory=pageable", {kHidden}, "compute"},
    {"pageable_stream_in_step",
     BATCH_OF_4_MB " copy=stream memory=pageable in-flight=1",
     {copy_shows(4_ms)},
     "h2d"},

    // A declared copy and an injected one are as good as bytes over a link.
    {"declared_cost_instead_of_link", BATCH_OF_4_MB " cost=h2d=2ms", {copy_shows(2_ms)}, "h2d"},
    {"declared_rate", BATCH_OF_4_MB " cost=h2d=2GB/s", {copy_shows(2_ms)}, "h2d"},
    {"injected_on_top_of_link", BATCH_OF_4_MB " inject=h2d=+2ms", {copy_shows(3_ms)}, "h2d"},
};
INSTANTIATE_TEST_SUITE_P(Modes, KnownAnswer, testing::ValuesIn(kModes), name_of_case);

const Case kTogether[] = {
    // The copy of a synthetic batch takes no time without a link.
    {"no_link_no_copy",
     "workers=1 batch=4 delivered-bytes=1MB cost=collate=1ms compute=10ms warmup=4 steps=30",
     {kHidden},
     "compute"},

    // The trainer's own copies follow each other: 12 ms each on a stream, C = 10: 2 ms show.
    {"pageable_stream_too_long",
     "workers=1 batch=4 delivered-bytes=3MB link=12/1 memory=pageable copy=stream cost=collate=1ms "
     "compute=10ms warmup=4 steps=30",
     {{.window = 360_ms, .compute = 300_ms, .stall = {{Cause::h2d, 60_ms}}}},
     "h2d"},
    // Launching comes after it, on the same thread: 8 + 4 ms for each step; copied at 8, launched
    // at 12, 2 ms of the launching show.
    {"pageable_stream_and_launch",
     "workers=1 batch=4 delivered-bytes=2MB link=12/1 memory=pageable copy=stream cost=collate=1ms "
     "cost=launch=4ms compute=10ms warmup=4 steps=30",
     {{.window = 360_ms, .compute = 300_ms, .stall = {{Cause::launch, 60_ms}}}},
     "launch"},
    // The trainer only launches if the memory is page-locked.
    {"pinned_stream_and_launch",
     "workers=1 batch=4 delivered-bytes=24MB link=12/1 copy=stream cost=collate=1ms "
     "cost=launch=4ms compute=10ms warmup=4 steps=30",
     {kHidden},
     "compute"},

    // T = 16, C = 10, 4 ms of pageable copying: computed from 4 to 14 after a batch is finished,
    // the next one is decoded until 16 and copied until 20.
    {"decode_and_pageable_copy",
     "workers=1 batch=4 delivered-bytes=1MB link=4/1 memory=pageable cost=decode=4ms compute=10ms "
     "warmup=4 steps=30",
     {{.window = 480_ms,
       .compute = 300_ms,
       .stall = {{Cause::decode, 60_ms}, {Cause::h2d, 120_ms}},
       .why = {{Why::capacity, 60_ms}}}},
     "h2d"},

    // 64 x 3 x 224 x 224 x 4 = 38,535,168 bytes: at 28 GB/s 1,376,256 ns, at 8 GB/s 4,816,896 ns.
    {"imagenet_batch_pinned",
     "workers=1 link=28/8 cost=collate=1ms compute=12ms warmup=4 steps=30",
     {{.window = 360_ms + 30 * 1'376'256,
       .compute = 360_ms,
       .stall = {{Cause::h2d, 30 * 1'376'256}}}},
     "h2d"},
    {"imagenet_batch_pageable",
     "workers=1 link=28/8 memory=pageable cost=collate=1ms compute=12ms warmup=4 steps=30",
     {{.window = 360_ms + 30 * 4'816'896,
       .compute = 360_ms,
       .stall = {{Cause::h2d, 30 * 4'816'896}}}},
     "h2d"},
    // A quarter of the bytes as u8, copied in a quarter of the time.
    {"imagenet_batch_as_u8",
     "workers=1 link=28/8 transfer=u8 cost=collate=1ms compute=12ms warmup=4 steps=30",
     {{.window = 360_ms + 30 * 344'064, .compute = 360_ms, .stall = {{Cause::h2d, 30 * 344'064}}}},
     "compute"},

    // Two ranks, a link each.
    {"links_are_not_shared", BATCH_OF_4_MB " ranks=2", {copy_shows(1_ms), copy_shows(1_ms)}, "h2d"},
};
INSTANTIATE_TEST_SUITE_P(Together, KnownAnswer, testing::ValuesIn(kTogether), name_of_case);

#undef BATCH_OF_4_MB

}  // namespace
}  // namespace loaderscope::known_answer
