// No workers: the trainer makes each batch itself, after it has asked for it.
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

const Case kInline[] = {
    // N = 2: batch k + 1 is made while k computes. T = 10, C = 4: 6 ms stick out; the maker never
    // rests.
    {"makes_during_compute",
     "workers=0 batch=1 cost=decode=10ms compute=4ms warmup=2 steps=30",
     {{.window = 300_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 180_ms}},
       .why = {{Why::capacity, 180_ms}}}},
     "decode"},
    {"as_fast_as_the_compute",
     "workers=0 batch=1 cost=decode=10ms compute=10ms warmup=2 steps=30",
     {{.window = 300_ms, .compute = 300_ms}},
     "compute"},
    {"faster_than_the_compute",
     "workers=0 batch=1 cost=decode=10ms compute=15ms warmup=2 steps=20",
     {{.window = 300_ms, .compute = 300_ms}},
     "compute"},

    // N = 1: first the compute, then the batch: 14 ms a step.
    {"makes_after_compute",
     "workers=0 batch=1 in-flight=1 cost=decode=10ms compute=4ms warmup=2 steps=30",
     {{.window = 420_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 300_ms}},
       .why = {{Why::capacity, 300_ms}}}},
     "decode"},
    {"each_stage",
     "workers=0 batch=2 in-flight=1 cost=read=1ms cost=decode=2ms cost=augment=1ms "
     "cost=collate=3ms compute=4ms warmup=2 steps=30",
     {{.window = 450_ms,
       .compute = 120_ms,
       .stall = {{Cause::read, 60_ms},
                 {Cause::decode, 120_ms},
                 {Cause::augment, 60_ms},
                 {Cause::collate, 90_ms}},
       .why = {{Why::capacity, 330_ms}}}},
     "decode"},

    // N = 1: batch 10, copy 3, launch 2 (a sync copy does not hide it), compute 5: 20 ms a step.
    {"copy_and_launch",
     "workers=0 batch=1 in-flight=1 copy=sync cost=decode=10ms cost=h2d=3ms cost=launch=2ms "
     "compute=5ms warmup=2 steps=30",
     {{.window = 600_ms,
       .compute = 150_ms,
       .stall = {{Cause::decode, 300_ms}, {Cause::h2d, 90_ms}, {Cause::launch, 60_ms}},
       .why = {{Why::capacity, 300_ms}}}},
     "decode"},

    // Transport has no cost, as no batch moves between processes. No worker starts either.
    {"no_transport_no_startup",
     "workers=0 batch=1 cost=decode=10ms cost=transport=50ms cost=transport.recv=50ms "
     "cost=startup=1s cost=startup.parent=1s compute=4ms warmup=2 steps=30",
     {{.window = 300_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 180_ms}},
       .why = {{Why::capacity, 180_ms}}}},
     "decode"},

    // The trainer waits while its batch is pinned: 13 ms a step, 9 of them idle: decode until 10,
    // pin until 13.
    {"pin_thread",
     "workers=0 batch=1 memory=pin-thread cost=decode=10ms cost=pin=3ms compute=4ms warmup=2 "
     "steps=30",
     {{.window = 390_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 180_ms}, {Cause::pin, 90_ms}},
       .why = {{Why::capacity, 180_ms}}}},
     "decode"},

    // Two epochs of ten steps: the first step of each has why = epoch, 6 ms like any other.
    {"epochs",
     "workers=0 batch=1 samples=10 epochs=3 cost=decode=10ms compute=4ms warmup=10",
     {{.window = 200_ms,
       .compute = 80_ms,
       .stall = {{Cause::decode, 120_ms}},
       .why = {{Why::capacity, 108_ms}, {Why::epoch, 12_ms}}}},
     "decode"},

    // Half a core: of 20 ms the trainer waits 10 for it.
    {"half_a_core",
     "workers=0 batch=1 in-flight=1 cores=0.5 cost=decode=10ms compute=4ms warmup=2 steps=30",
     {{.window = 720_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 300_ms}, {Cause::contention, 300_ms}},
       .why = {{Why::capacity, 600_ms}}}},
     kNoVerdict},

    // Storage with a latency of 3 ms and 1 MB at 200 MB/s: 8 ms a sample.
    {"storage",
     "workers=0 batch=2 in-flight=1 stored-bytes=1MB storage-latency=3ms storage-bandwidth=200MB/s "
     "compute=4ms warmup=2 steps=30",
     {{.window = 600_ms,
       .compute = 120_ms,
       .stall = {{Cause::read, 480_ms}},
       .why = {{Why::capacity, 480_ms}}}},
     "read"},
};
INSTANTIATE_TEST_SUITE_P(Inline, KnownAnswer, testing::ValuesIn(kInline), name_of_case);

}  // namespace
}  // namespace loaderscope::known_answer
