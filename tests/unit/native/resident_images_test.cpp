// Real images that the device keeps: no worker reads them again, and the samples stay the same.
#include <stdexcept>

#include "engine/native/resident_data.h"
#include "predict/fitted_model.h"
#include "unit/native/device_images.h"
#include "unit/native/small_copies.h"

namespace loaderscope::native {
namespace {

void expect_nothing_read(const RunRecord& record) {
  EXPECT_EQ(record.ranks.at(0).stages[Stage::read].count, 0);
  EXPECT_EQ(record.ranks.at(0).stages[Stage::decode].count, 0);
  ASSERT_EQ(record.before_first_ask.size(), 2U);
  EXPECT_EQ(record.before_first_ask.back().first, "read");
  EXPECT_GT(record.before_first_ask.back().second, 0);
}

TEST(ResidentImages, MakesSamplesOfRunsThatRead) {
  const Photos photos(37);
  const std::vector<std::uint64_t> expected = samples_of_host(photos);
  for (const std::string place : {"decode=hw", "decode=split:0.5"})
    for (const std::string way :
         {"workers=1", "workers=3 task=sample", "workers=2 memory=pin-thread",
          "workers=2 executor=processes", "workers=3 executor=processes task=sample"}) {
      SCOPED_TRACE(place + " " + way);
      const DeviceRun made = run_on_device(photos, place + " resident=stored " + way);
      EXPECT_EQ(made.samples, expected);
      EXPECT_EQ(made.held, made.stored);
      EXPECT_EQ(made.stored + made.pixels, 74);
      EXPECT_EQ(find_value(made.record, "decode.by_engines"), made.stored);
      if (place != "decode=hw") continue;
      EXPECT_EQ(made.held, 74);
      expect_nothing_read(made.record);
    }
}

TEST(ResidentImages, LeavesRefusedAndDamagedImagesToWorkers) {
  dataset::MakeOptions mixed = Photos::small_photos();
  mixed.progressive_share = 0.5;
  const Photos photos(20, mixed);
  photos.damage(2);
  photos.damage(3);
  const DeviceRun made = run_on_device(photos, "decode=hw resident=stored workers=2");
  const DeviceRun read = run_on_device(photos, "decode=hw workers=2");
  EXPECT_EQ(made.samples, samples_of_host(photos));
  EXPECT_GT(made.held, 0);
  EXPECT_LT(made.held, 40);
  EXPECT_EQ(made.record.skipped.samples, read.record.skipped.samples);
  for (const char* const name :
       {"decode.by_engines", "decode.by_cpu", "decode.refused_progressive"})
    EXPECT_EQ(find_value(made.record, name), find_value(read.record, name)) << name;
}

TEST(ResidentImages, CropsImagesThatWereMadeSmaller) {
  const Photos photos(13);
  const source::TempFolder small;
  put_small_copies(photos, 13, 20, small);
  NotingDevices devices(kSampleBytes);
  run(fmt::format("data={} {} device=null workers=1", small.path(), kCommon), devices.context());
  const std::vector<std::uint64_t> expected = all_samples(devices.delivered());
  ASSERT_EQ(expected.size(), 26U);
  for (const std::string way : {"workers=2", "workers=2 executor=processes task=sample"}) {
    SCOPED_TRACE(way);
    const DeviceRun made = run_on_device(photos, "resident=decoded:20 " + way);
    EXPECT_EQ(made.samples, expected);
    EXPECT_EQ(made.held, 26);
    EXPECT_EQ(made.pixels, 26);
    EXPECT_EQ(find_value(made.record, "memory.gpu_data_bytes"), 13 * 3 * 20 * 20);
    expect_nothing_read(made.record);
  }
}

TEST(ResidentImages, RefusesToPredictReadsThatNoRunMade) {
  const Photos photos(40);
  const DeviceRun made = run_on_device(photos, "decode=hw resident=stored workers=2 compute=1ms");
  const FittedModel model(made.record);
  EXPECT_NO_THROW(model.predict({}, 1'000));
  EXPECT_THROW(model.predict({{"resident", "no"}}, 1'000), UsageError);
  EXPECT_THROW(model.predict({{"resident", "decoded"}, {"decode", "cpu"}}, 1'000), UsageError);
  const DeviceRun read = run_on_device(photos, "decode=hw workers=2 compute=1ms");
  const FittedModel reads_model(read.record);
  EXPECT_NO_THROW(reads_model.predict({{"resident", "stored"}}, 1'000));
  EXPECT_THROW(reads_model.predict({{"resident", "decoded"}, {"decode", "cpu"}}, 1'000),
               UsageError);
}

// Samples of 1,000 stored bytes each, of which none may be read.
class UnreadSource : public Source, public Extents {
 public:
  std::int64_t size() const override { return 100; }
  std::string describe(std::int64_t) const override { return "sample"; }
  std::unique_ptr<SampleReader> make_reader() const override {
    throw std::logic_error("a reader was made");
  }
  const Extents* extents() const override { return this; }
  Extent extent(std::int64_t sample) const override { return {0, 1000 * sample, 1000}; }
  std::int64_t objects() const override { return 1; }
  void get_path(std::int64_t, std::string& path) const override { path = "none"; }
  std::vector<std::string> roots() const override { return {}; }
};

// Makes the data set that a device keeps in `most` bytes.
void keep_unread(const std::string& settings, Bytes most) {
  const RunConfig config =
      parse_config(std::string(kOnDevice) + "workers=1 samples=100 cost=decode=1us " + settings);
  const LoaderPlan plan(config);
  const UnreadSource source;
  DataPipeline pipeline;
  pipeline.plan = &plan;
  pipeline.source = &source;
  ResidentData(pipeline, {.most_bytes = most});
}

TEST(ResidentImages, RefusesDataThatIsTooLargeBeforeReading) {
  const std::string stored = "decode=hw resident=stored", decoded = "size=16 resident=decoded:20";
  EXPECT_THROW(keep_unread(stored, 100 * 1024 - 1), RunError);
  EXPECT_THROW(keep_unread(stored, 100 * 1024), std::logic_error);
  EXPECT_THROW(keep_unread(decoded, 100 * 1280 - 1), RunError);
  EXPECT_THROW(keep_unread(decoded, 100 * 1280), std::logic_error);
}

TEST(ResidentImages, TakesDeclaredTimeOfDeclaredData) {
  const RunRecord record =
      run("device=sim workers=2 batch=4 samples=40 cost=read=5ms:sleep compute=1ms steps=20 "
          "warmup=2 decode=hw resident=stored cost=gpu-decode=1us cost=gpu-augment=1us");
  expect_closes(record);
  EXPECT_EQ(record.ranks.at(0).stages[Stage::read].count, 0);
  ASSERT_EQ(record.before_first_ask.size(), 1U);
  EXPECT_EQ(record.before_first_ask.front().second, 100 * kMillisecond);
}

}  // namespace
}  // namespace loaderscope::native
