// From the worker to the trainer: feeders, the pin thread, and who waits for whose turn.
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

const Case kFeeders[] = {
    // A feeder per worker: two of them deliver two batches every 10 ms. C = 4: the device
    // computes for 8 ms of 10 and waits 2 ms for the sending of the next two.
    {"one_feeder_per_worker",
     "workers=2 batch=1 cost=decode=2ms cost=transport=10ms:sleep compute=4ms warmup=2 steps=40",
     {{.window = 200_ms, .compute = 160_ms, .stall = {{Cause::transport, 40_ms}}}},
     "transport"},

    // The trainer is one: it receives the batches of both workers one after another, 6 ms each;
    // C = 4.
    {"one_receiver_for_all_workers",
     "workers=2 batch=1 cost=decode=2ms cost=transport.recv=6ms:sleep compute=4ms warmup=4 "
     "steps=30",
     {{.window = 180_ms, .compute = 120_ms, .stall = {{Cause::transport, 60_ms}}}},
     "transport"},

    // T = 20, W = 2: batches 2j and 2j + 1 are finished at 20 (j + 1) =: 0 and received by the
    // trainer in [0, 4] and [4, 8]. C = 1: computes [4, 5] and [8, 9]. Idle [5, 8]: batch 2j + 1
    // is being received, 3 transport. Idle [9, 24]: 11 decode until 20, then 4 transport.
    {"received_one_after_another",
     "workers=2 batch=1 cost=decode=20ms cost=transport.recv=4ms:sleep compute=1ms warmup=2 "
     "steps=30",
     {{.window = 300_ms,
       .compute = 30_ms,
       .stall = {{Cause::decode, 165_ms}, {Cause::transport, 105_ms}},
       .why = {{Why::capacity, 165_ms}}}},
     "decode"},
};
INSTANTIATE_TEST_SUITE_P(Feeders, KnownAnswer, testing::ValuesIn(kFeeders), name_of_case);

const Case kPinThread[] = {
    // T = 20, W = 2, pinning 5: both are finished at 0 and pinned in [0, 5] and [5, 10]. C = 1:
    // computes [5, 6] and [10, 11]; idle [6, 10]: pin 4; idle [11, 25]: decode 9, pin 5.
    {"pinned_one_after_another",
     "workers=2 batch=1 memory=pin-thread cost=decode=20ms cost=pin=5ms:sleep compute=1ms warmup=2 "
     "steps=30",
     {{.window = 300_ms,
       .compute = 30_ms,
       .stall = {{Cause::decode, 135_ms}, {Cause::pin, 135_ms}},
       .why = {{Why::capacity, 135_ms}}}},
     kNoVerdict},

    // Worker 0 needs 24 ms, worker 1 20; one batch each in flight, pinning 5, C = 1. Count from
    // the moment at which both begin. Worker 1 is finished at 20 and its batch 2j + 1 pinned in
    // [20, 25]. Batch 2j is finished at 24, waits its turn until 25 and is pinned until 30. Both
    // are taken at 30, when both workers begin again: a period of 30 ms. Computes [30, 31] and
    // [31, 32]. Idle from 2 (32) to 30: decode 22 until 24, then pin 6, waiting included. g of
    // worker 0 is the time from 24 to 30: depth 6, latency 16. Order: the later batch is
    // deliverable from 25 to 30.
    {"waits_its_turn",
     "workers=2 batch=1 prefetch=1 memory=pin-thread cost=decode=20ms:sleep "
     "inject=decode=+4ms@worker=0 cost=pin=5ms:sleep compute=1ms warmup=2 steps=30",
     {{.window = 450_ms,
       .compute = 30_ms,
       .stall = {{Cause::decode, 330_ms}, {Cause::pin, 90_ms}},
       .why = {{Why::depth, 90_ms}, {Why::latency, 240_ms}},
       .order = 75_ms}},
     "decode"},

    // The same with receiving 2 + pinning 3 instead of pinning 5: of the 6 ms after 24, the turn
    // is waited for until 25 (pin), the batch received until 27 (transport) and pinned until 30.
    {"waits_its_turn_is_received_and_pinned",
     "workers=2 batch=1 prefetch=1 memory=pin-thread cost=decode=20ms:sleep "
     "inject=decode=+4ms@worker=0 cost=transport.recv=2ms:sleep cost=pin=3ms:sleep compute=1ms "
     "warmup=2 steps=30",
     {{.window = 450_ms,
       .compute = 30_ms,
       .stall = {{Cause::decode, 330_ms}, {Cause::pin, 60_ms}, {Cause::transport, 30_ms}},
       .why = {{Why::depth, 90_ms}, {Why::latency, 240_ms}},
       .order = 75_ms}},
     "decode"},

    // 20 batches of pinning 3 ms and a pin thread for all of 4 workers: 3 ms a step, C = 2.
    {"one_pin_thread_for_all_workers",
     "workers=4 batch=1 memory=pin-thread cost=decode=1ms cost=pin=3ms:sleep compute=2ms warmup=8 "
     "steps=40",
     {{.window = 120_ms, .compute = 80_ms, .stall = {{Cause::pin, 40_ms}}}},
     "pin"},

    // A declared rate pins the delivered bytes: 4 x 1 MB at 1 GB/s are 4 ms; C = 3.
    {"pinning_at_a_rate",
     "workers=1 batch=4 delivered-bytes=1MB memory=pin-thread cost=collate=1ms cost=pin=1GB/s "
     "compute=3ms warmup=4 steps=30",
     {{.window = 120_ms, .compute = 90_ms, .stall = {{Cause::pin, 30_ms}}}},
     "pin"},
};
INSTANTIATE_TEST_SUITE_P(PinThread, KnownAnswer, testing::ValuesIn(kPinThread), name_of_case);

// The trainer or the pin thread receives 30 times. Each reception has its wall and CPU time.
TEST(KnownAnswerStages, CountsReceptionByTrainerAndPinThread) {
  for (const char* memory : {"pinned-slots", "pin-thread"}) {
    const RunRecord record =
        run("workers=1 batch=1 cost=decode=2ms cost=transport.recv=6ms compute=4ms warmup=2 "
            "steps=30 memory=" +
            std::string(memory));
    const StageStats& receive = record.ranks[0].stages[Stage::transport_recv];
    EXPECT_EQ(receive.count, 30) << memory;
    EXPECT_EQ(receive.wall, 180_ms) << memory;
    EXPECT_EQ(receive.cpu, 180_ms) << memory;
  }
}

}  // namespace
}  // namespace loaderscope::known_answer
