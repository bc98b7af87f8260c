// Real images for a device that decodes or augments: its batches hold the samples that the host
// would have made.
#include "unit/native/device_images.h"
#include "predict/device_fit.h"
#include "predict/fitted_model.h"

namespace loaderscope::native {
namespace {

TEST(DeviceImages, MakesSamplesOfTheHost) {
  const Photos photos(37);
  const std::vector<std::uint64_t> expected = samples_of_host(photos);
  ASSERT_EQ(expected.size(), 74U);
  for (const std::string place : {"decode=hw", "decode=gpu", "decode=split:0.5", "augment-on=gpu"})
    for (const std::string way :
         {"workers=1", "workers=3 task=sample", "workers=2 memory=pin-thread",
          "workers=2 memory=pageable in-flight=1 device-prefetch=1", "workers=3 executor=processes",
          "workers=2 executor=processes memory=pin-thread task=sample"}) {
      SCOPED_TRACE(place + " " + way);
      const DeviceRun made = run_on_device(photos, place + " " + way);
      EXPECT_EQ(made.samples, expected);
      const bool is_split = place == "decode=split:0.5", decodes = place != "augment-on=gpu";
      EXPECT_EQ(made.stored + made.pixels, 74);
      EXPECT_EQ(made.stored > 0, decodes);
      EXPECT_EQ(made.pixels > 0, is_split || !decodes);
      EXPECT_EQ(find_value(made.record, "decode.by_engines"), made.stored);
      EXPECT_EQ(find_value(made.record, "decode.by_cpu"), is_split ? made.pixels : 0);
    }
}

// The rows have no decode for images of the device, and the model takes none for them.
TEST(DeviceImages, PredictsRunThatItMeasured) {
  const Photos photos(37);
  for (const std::string place : {"decode=hw", "decode=split:0.5"}) {
    SCOPED_TRACE(place);
    const FittedModel model(run_on_device(photos, place + " workers=1 compute=1ms").record);
    const Prediction base = model.fitted(), means = model.predict_at_means();
    EXPECT_GT(base.account.device.decode + base.account.device.shared, 0);
    EXPECT_NEAR(means.samples_per_s / base.samples_per_s, 1, 0.2);
    EXPECT_THROW(model.predict({{"decode", "cpu"}}), UsageError);
    EXPECT_THROW(model.predict({{"augment-on", "host"}}), UsageError);
    EXPECT_NO_THROW(model.predict({{"num-workers", "2"}}));
  }
}

TEST(DeviceImages, ResizesLargePixelsInTheWorker) {
  dataset::MakeOptions large;
  large.size = {200, 150, 0};
  const Photos photos(12, large);
  const DeviceRun made = run_on_device(photos, "augment-on=gpu workers=2");
  EXPECT_EQ(made.samples, samples_of_host(photos));
  EXPECT_GT(made.crops, 0);
  EXPECT_EQ(made.crops + made.pixels, 24);
}

TEST(DeviceImages, CountsImagesThatGoToTheCpu) {
  dataset::MakeOptions mixed = Photos::small_photos();
  mixed.progressive_share = 0.5;
  const Photos photos(20, mixed);
  const DeviceRun made = run_on_device(photos, "decode=hw workers=2");
  EXPECT_EQ(made.samples, samples_of_host(photos));
  const double refused = find_value(made.record, "decode.refused_progressive");
  EXPECT_GT(refused, 0);
  EXPECT_EQ(refused, find_value(made.record, "decode.by_cpu"));
  EXPECT_EQ(refused + find_value(made.record, "decode.by_engines"), 40);
  // The model of the run gives the workers as many.
  EXPECT_DOUBLE_EQ(declare_device_work(made.record).image.decode.value.share, 1 - refused / 40);
}

TEST(DeviceImages, ReplacesDamagedSamplesAsTheHostDoes) {
  const Photos photos(9);
  photos.damage(2);
  photos.damage(3);
  photos.damage(8);
  const std::vector<std::uint64_t> expected = samples_of_host(photos);
  for (const std::string way : {"workers=2", "workers=2 executor=processes task=sample"}) {
    const DeviceRun made = run_on_device(photos, "decode=hw " + way);
    EXPECT_EQ(made.samples, expected) << way;
    EXPECT_EQ(made.record.skipped.samples, 6) << way;
    EXPECT_EQ(find_value(made.record, "decode.refused_damaged"), 0) << way;
  }
}

TEST(DeviceImages, RefusesRunsWithoutStages) {
  const Photos photos(5);
  EXPECT_THROW(run_on_device(photos, "decode=hw workers=2 prove=all"), UsageError);
}

}  // namespace
}  // namespace loaderscope::native
