// Storage described by latency, shared bandwidth and places, instead of a cost of read.
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

Answer waits_6_of_10_for_read() {
  return {.window = 300_ms,
          .compute = 120_ms,
          .stall = {{Cause::read, 180_ms}},
          .why = {{Why::capacity, 180_ms}}};
}

Answer waits_1_of_5_for_read() {
  return {.window = 200_ms,
          .compute = 160_ms,
          .stall = {{Cause::read, 40_ms}},
          .why = {{Why::capacity, 40_ms}}};
}

const Case kStorage[] = {
    // One worker, 10 ms a sample in three ways; C = 4.
    {"latency",
     "workers=1 batch=1 storage-latency=10ms compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for_read()},
     "read"},
    {"bandwidth",
     "workers=1 batch=1 stored-bytes=1MB storage-bandwidth=100MB/s compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for_read()},
     "read"},
    {"latency_and_bandwidth",
     "workers=1 batch=1 stored-bytes=1MB storage-latency=5ms storage-bandwidth=200MB/s compute=4ms "
     "warmup=2 steps=30",
     {waits_6_of_10_for_read()},
     "read"},
    {"injected_on_top",
     "workers=1 batch=1 storage-latency=4ms inject=read=+6ms compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for_read()},
     "read"},
    {"injected_on_top_of_bandwidth",
     "workers=1 batch=1 stored-bytes=1MB storage-bandwidth=250MB/s inject=read=+6ms compute=4ms "
     "warmup=2 steps=30",
     {waits_6_of_10_for_read()},
     "read"},

    // Two samples under way come at once: a batch of two every 10 ms.
    {"two_under_way",
     "workers=1 batch=2 storage-latency=10ms queue-depth=2 compute=4ms warmup=2 steps=30",
     {waits_6_of_10_for_read()},
     "read"},
    // Each sample takes 5 ms to the first byte and 2.5 on the link, and two are under way. A sample
    // is asked for when the one before the last has arrived, and arrives 7.5 ms later. That is a
    // batch of two every 7.5.
    {"two_under_way_share_the_link",
     "workers=1 batch=2 stored-bytes=1MB storage-latency=5ms storage-bandwidth=400MB/s "
     "queue-depth=2 "
     "compute=4ms warmup=4 steps=40",
     {{.window = 300_ms,
       .compute = 160_ms,
       .stall = {{Cause::read, 140_ms}},
       .why = {{Why::capacity, 140_ms}}}},
     "read"},

    // Each sample takes only its 10 ms on a link that is never full: four batches of four every 20.
    {"four_with_a_link_that_is_wide",
     "workers=4 batch=4 stored-bytes=1 storage-latency=10ms storage-bandwidth=1000GB/s "
     "queue-depth=2 compute=4ms warmup=4 steps=40",
     {waits_1_of_5_for_read()},
     "read"},
    // Four under way of two fill it, 2.5 ms each: a batch of two every 5.
    {"two_fill_the_link",
     "workers=2 batch=2 stored-bytes=1MB storage-latency=5ms storage-bandwidth=400MB/s "
     "queue-depth=2 compute=4ms warmup=4 steps=40",
     {waits_1_of_5_for_read()},
     "read"},

    // Latency is not shared: two workers give two batches every 10 ms, C = 4: 2 ms idle.
    {"latency_of_two",
     "workers=2 batch=1 storage-latency=10ms compute=4ms warmup=2 steps=40",
     {waits_1_of_5_for_read()},
     "read"},
    // Bandwidth is: two reads at once take 20 ms. Two batches every 20, C = 4: 12 idle.
    {"bandwidth_of_two",
     "workers=2 batch=1 stored-bytes=1MB storage-bandwidth=100MB/s compute=4ms warmup=2 steps=40",
     {{.window = 400_ms,
       .compute = 160_ms,
       .stall = {{Cause::read, 240_ms}},
       .why = {{Why::capacity, 240_ms}}}},
     "read"},
    // So are places: one read of 10 ms after another, a batch every 10 ms; waiting for the place
    // is read as well.
    {"one_place_for_two",
     "workers=2 batch=1 storage-latency=10ms storage-concurrency=1 compute=4ms warmup=2 steps=40",
     {{.window = 400_ms,
       .compute = 160_ms,
       .stall = {{Cause::read, 240_ms}},
       .why = {{Why::capacity, 240_ms}}}},
     "read"},
    // Two places for four: workers 0 and 1 read in [0, 10], 2 and 3 in [10, 20], and so on: two
    // batches every 10 ms, C = 4: 2 ms idle.
    {"two_places_for_four",
     "workers=4 batch=1 storage-latency=10ms storage-concurrency=2 compute=4ms warmup=4 steps=40",
     {waits_1_of_5_for_read()},
     "read"},

    // Both read in [0, 20] and decode in [20, 30], in step: two batches every 30 ms, C = 4. Idle
    // [8, 30]: read 12, decode 10.
    {"read_and_decode_in_step",
     "workers=2 batch=1 stored-bytes=1MB storage-bandwidth=100MB/s cost=decode=10ms:sleep "
     "compute=4ms warmup=2 steps=40",
     {{.window = 600_ms,
       .compute = 160_ms,
       .stall = {{Cause::read, 240_ms}, {Cause::decode, 200_ms}},
       .why = {{Why::capacity, 440_ms}}}},
     "read"},
    // One at a time the reads take 10 ms, and one worker decodes while the other reads. A batch
    // is finished every 10 ms after 10 ms of decode, of which C = 4 hides the first 4.
    {"read_and_decode_in_turn",
     "workers=2 batch=1 stored-bytes=1MB storage-bandwidth=100MB/s storage-concurrency=1 "
     "cost=decode=10ms:sleep compute=4ms warmup=2 steps=40",
     {{.window = 400_ms,
       .compute = 160_ms,
       .stall = {{Cause::decode, 240_ms}},
       .why = {{Why::capacity, 240_ms}}}},
     "decode"},

    // Two ranks share the storage: a batch every 20 ms each, C = 4.
    {"two_ranks",
     "ranks=2 workers=1 batch=1 stored-bytes=1MB storage-bandwidth=100MB/s compute=4ms warmup=2 "
     "steps=30",
     {{.window = 600_ms,
       .compute = 120_ms,
       .stall = {{Cause::read, 480_ms}},
       .why = {{Why::capacity, 480_ms}}},
      {.window = 600_ms,
       .compute = 120_ms,
       .stall = {{Cause::read, 480_ms}},
       .why = {{Why::capacity, 480_ms}}}},
     "read"},

    // Sample tasks read in turn too: 4 samples of 1 MB at 100 MB/s are 40 ms for a batch,
    // whichever worker reads. C = 10.
    {"sample_tasks",
     "task=sample workers=4 prefetch-depth=2 batch=4 stored-bytes=1MB storage-bandwidth=100MB/s "
     "compute=10ms warmup=4 steps=20",
     {{.window = 800_ms,
       .compute = 200_ms,
       .stall = {{Cause::read, 600_ms}},
       .why = {{Why::capacity, 600_ms}}}},
     "read"},
};
INSTANTIATE_TEST_SUITE_P(Storage, KnownAnswer, testing::ValuesIn(kStorage), name_of_case);

}  // namespace
}  // namespace loaderscope::known_answer
