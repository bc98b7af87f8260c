// Production on the device. D and A are what it takes to decode and to augment one batch.
#include "engine/model/model_engine.h"
#include "engine/pipeline/loader_plan.h"
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

// One worker reads a batch of 4 in 20 ms, or in no time from GPU memory.
constexpr std::string_view kSlowReads =
    "workers=1 batch=4 samples=400 cost=read=5ms:sleep compute=10ms warmup=8 steps=30 ";
constexpr std::string_view kStoredOnGpu =
    "decode=hw resident=stored cost=gpu-decode=500us cost=gpu-augment=250us ";

std::string operator+(std::string_view a, std::string_view b) {
  return std::string(a) + std::string(b);
}

Nanos loading_time(const RunRecord& record) {
  Nanos time = 0;
  for (const auto& [name, ns] : record.before_first_ask) time += name == "read" ? ns : 0;
  return time;
}

Bytes held_bytes(const RunRecord& record) {
  return static_cast<Bytes>(value_of(record.metrics, metric::memory_gpu_data_bytes).value_or(0));
}

TEST(ResidentData, ReadsEachSampleOnceBeforeFirstBatch) {
  const RunRecord record = run(kSlowReads + kStoredOnGpu + "stored-bytes=1MB link=4/1");
  const RankRecord& rank = record.ranks.at(0);
  EXPECT_EQ(rank.window(), 300_ms);
  EXPECT_EQ(rank.stages[Stage::read].count, 0);
  EXPECT_EQ(rank.stages[Stage::h2d].count, 0);
  EXPECT_EQ(rank.stages[Stage::gpu_decode].wall, rank.samples * 500_us);
  // 400 samples of 5 ms, then 400 MB at 4 GB/s.
  EXPECT_EQ(loading_time(record), 2000_ms + 100_ms);
  EXPECT_EQ(held_bytes(record), 400'000'000);
  EXPECT_EQ(analyse(record).first_batch_by_cause.front(),
            (std::pair<std::string, Nanos>("read", 2100_ms)));
}

TEST(ResidentData, TakesNoTimeIfNothingIsKept) {
  const RunRecord record = run(kSlowReads);
  EXPECT_TRUE(record.before_first_ask.empty());
  EXPECT_EQ(record.ranks.at(0).window(), 600_ms);
}

TEST(ResidentData, DecodesEachImageOnce) {
  const RunRecord record =
      run("workers=2 batch=4 samples=400 cost=read=5ms:sleep cost=decode=3ms:sleep compute=10ms "
          "warmup=8 steps=30 resident=decoded:250 cost=gpu-augment=250us link=3/1");
  const RankRecord& rank = record.ranks.at(0);
  EXPECT_EQ(rank.window(), 300_ms);
  EXPECT_EQ(rank.stages[Stage::decode].count, 0);
  EXPECT_EQ(rank.stages[Stage::gpu_decode].count, 0);
  EXPECT_EQ(rank.stages[Stage::gpu_augment].wall, rank.samples * 250_us);
  // 400 samples of 8 ms on two workers, then 75 MB at 3 GB/s.
  EXPECT_EQ(held_bytes(record), 75'000'000);
  EXPECT_EQ(loading_time(record), 1600_ms + 25_ms);
}

TEST(ResidentData, SharesStorageAndCoresWhileItLoads) {
  // 400 MB at 100 MB/s. Each read alone takes 10 ms: 8 workers would read them in 500 ms.
  EXPECT_EQ(loading_time(run("workers=8 batch=4 samples=400 storage-bandwidth=100MB/s compute=10ms "
                             "warmup=8 steps=30 stored-bytes=1MB " +
                             kStoredOnGpu)),
            4000_ms);
  // Two reads at a time.
  EXPECT_EQ(loading_time(run("workers=8 batch=4 samples=400 storage-latency=10ms compute=10ms "
                             "storage-concurrency=2 warmup=8 steps=30 " +
                             kStoredOnGpu)),
            2000_ms);
  // 8 workers on 2 cores.
  EXPECT_EQ(loading_time(run("workers=8 cores=2 batch=4 samples=400 cost=read=5ms:cpu compute=10ms "
                             "warmup=8 steps=30 " +
                             kStoredOnGpu)),
            1000_ms);
}

TEST(ResidentData, LeavesSamplesOfWorkersToThem) {
  const RunRecord record =
      run("workers=4 batch=100 samples=2000 cost=read=1us:sleep cost=decode=1us:sleep compute=1ms "
          "warmup=8 steps=50 decode=split:0.7 resident=stored cost=gpu-decode=1us "
          "cost=gpu-augment=0 stored-bytes=1KB");
  const RankRecord& rank = record.ranks.at(0);
  const auto read = static_cast<double>(rank.stages[Stage::read].count);
  EXPECT_EQ(rank.stages[Stage::read].count, rank.stages[Stage::decode].count);
  EXPECT_NEAR(read / static_cast<double>(rank.samples), 0.3, 0.03);
  EXPECT_NEAR(static_cast<double>(held_bytes(record)), 0.7 * 2'000'000, 0.03 * 2'000'000);
  EXPECT_EQ(loading_time(record), held_bytes(record) / 1000 * 1_us / 4);
}

}  // namespace
}  // namespace loaderscope::known_answer
