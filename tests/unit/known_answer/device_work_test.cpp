// Production on the device. D and A are what it takes to decode and to augment one batch.
#include "engine/model/model_engine.h"
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

// Four workers read a batch of 4 in 4 ms, so that there is one each ms. C = 10, 30 steps.
#define READ_BY_WORKERS "workers=4 batch=4 cost=read=1ms:sleep compute=10ms warmup=8 steps=30 "

const Answer kMadeDuringCompute = {.window = 300_ms, .compute = 300_ms};

const Case kPlaces[] = {
    // D = 2 and A = 1, during the compute of an earlier step.
    {"hidden",
     READ_BY_WORKERS "decode=hw cost=gpu-decode=500us cost=gpu-augment=250us",
     {kMadeDuringCompute},
     "compute"},

    // D = 20, and no pause between two batches: a step takes 20. When the compute before it ends,
    // its batch is decoded for 9 ms more, and augmented for A = 1.
    {"engines_are_the_limit",
     READ_BY_WORKERS "decode=hw cost=gpu-decode=5ms cost=gpu-augment=250us",
     {{.window = 600_ms,
       .compute = 300_ms,
       .stall = {{Cause::decode, 270_ms}, {Cause::augment, 30_ms}},
       .why = {{Why::capacity, 300_ms}}}},
     "decode"},

    // A = 20: a step takes 20. D = 2 is hidden.
    {"kernel_is_the_limit",
     READ_BY_WORKERS "decode=gpu cost=gpu-decode=500us cost=gpu-augment=5ms",
     {{.window = 600_ms,
       .compute = 300_ms,
       .stall = {{Cause::augment, 300_ms}},
       .why = {{Why::capacity, 300_ms}}}},
     "augment"},

    // The workers decode in 40 ms, four at a time: a batch each 10 ms, as fast as the compute. The
    // device augments. Decoding on the device costs nothing then.
    {"augments_what_workers_decode",
     READ_BY_WORKERS "augment-on=gpu cost=decode=8ms:sleep cost=gpu-augment=250us",
     {kMadeDuringCompute},
     "compute"},

    // Copy 1, D = 8, A = 3, and two slots: batch k is submitted when compute k-2 ends. Its tasks
    // end
    // 12 later. With computes that end at 0, 11, 22, ... compute k begins at 12 - 11 = 1 after the
    // end of the one before. All that the lanes lack is a slot.
    {"slots_are_too_few",
     READ_BY_WORKERS
     "decode=hw cost=gpu-decode=2ms cost=gpu-augment=750us stored-bytes=1MB link=4/1 "
     "in-flight=1 device-prefetch=1",
     {{.window = 330_ms,
       .compute = 300_ms,
       .stall = {{Cause::augment, 30_ms}},
       .why = {{Why::depth, 30_ms}}}},
     kNotLookedAt},
    // One slot more: submitted when compute k-3 ends.
    {"one_slot_more",
     READ_BY_WORKERS
     "decode=hw cost=gpu-decode=2ms cost=gpu-augment=750us stored-bytes=1MB link=4/1 "
     "in-flight=1 device-prefetch=2",
     {kMadeDuringCompute},
     "compute"},

    // D = 2 takes 4 during a compute, which does 2 in that time: a step takes 12.
    {"takes_time_from_compute",
     READ_BY_WORKERS
     "decode=hw cost=gpu-decode=500us cost=gpu-augment=0 shared-speed=gpu-decode=0.5:0.5",
     {{.window = 360_ms, .compute = 360_ms}},
     "compute"},
};
INSTANTIATE_TEST_SUITE_P(DeviceWork, KnownAnswer, testing::ValuesIn(kPlaces), name_of_case);

#undef READ_BY_WORKERS

TEST(DeviceWorkOfModel, DecodesShareOfSamples) {
  const RunRecord record =
      run("workers=4 batch=100 cost=decode=1us:sleep compute=1ms warmup=8 steps=50 "
          "decode=split:0.7 cost=gpu-decode=1us cost=gpu-augment=0");
  const RankRecord& rank = record.ranks.at(0);
  const auto worker_decoded = static_cast<double>(rank.stages[Stage::decode].count);
  EXPECT_NEAR(worker_decoded / static_cast<double>(rank.samples), 0.3, 0.03);
  // The device takes 1 us for each of the others.
  EXPECT_EQ(rank.stages[Stage::gpu_decode].wall,
            (rank.samples - rank.stages[Stage::decode].count) * 1_us);
}

TEST(DeviceWorkOfModel, LeavesKnockedOutStagesOut) {
  RunContext context;
  context.knockouts = {Stage::decode};
  const RunRecord record =
      run_model(case_config("workers=4 batch=4 cost=read=1ms:sleep compute=10ms warmup=8 steps=30 "
                            "decode=hw cost=gpu-decode=5ms cost=gpu-augment=250us"),
                context);
  EXPECT_EQ(record.ranks.at(0).stages[Stage::gpu_decode].count, 0);
  EXPECT_EQ(record.ranks.at(0).window(), 300_ms);
}

}  // namespace
}  // namespace loaderscope::known_answer
