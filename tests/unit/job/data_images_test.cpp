// Size and kind of the images of a run, which a prediction of decoding on a GPU needs.
#include "job/data_images.h"

#include <gtest/gtest.h>

#include <optional>

#include "unit/native/photos.h"

namespace loaderscope {
namespace {

RunRecord make_record(const std::string& path) {
  RunRecord record;
  record.engine = record.config.engine.value = "native";
  record.config.data.source.set("files");
  record.config.data.paths.set({path});
  return record;
}

TEST(DataImages, ReportsPixelsAndJpegs) {
  const native::Photos photos(6);
  RunRecord record = make_record(photos.path());
  add_image_facts(record);
  EXPECT_EQ(value_of(record.metrics, metric::decode_image_pixels), 40 * 30);
  EXPECT_EQ(value_of(record.metrics, metric::decode_jpeg_share), 1);
}

TEST(DataImages, ReportsShareOfProgressiveImages) {
  dataset::MakeOptions options = native::Photos::small_photos();
  options.progressive_share = 0.5;
  const native::Photos photos(60, options);
  RunRecord record = make_record(photos.path());
  add_image_facts(record);
  const std::optional<double> share = value_of(record.metrics, metric::decode_jpeg_share);
  ASSERT_TRUE(share);
  EXPECT_GT(*share, 0.1);
  EXPECT_LT(*share, 0.9);
}

TEST(DataImages, ReportsNothingForUnreadableData) {
  RunRecord missing = make_record("/no/such/folder");
  RunRecord remote = make_record("http://host.invalid/images");
  RunRecord on_gpu = make_record("/no/such/folder");
  on_gpu.config.image.decode.set({DecodeOn::hw, 1});
  for (RunRecord* const record : {&missing, &remote, &on_gpu}) {
    add_image_facts(*record);
    EXPECT_TRUE(record->metrics.empty());
  }
}

}  // namespace
}  // namespace loaderscope
