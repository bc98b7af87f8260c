// Images that the JPEG engines of a GPU refuse, and why.
#include "dataset/jpeg_engines.h"

#include <gtest/gtest.h>

#include <string_view>

#include "unit/decode/made_jpeg.h"

namespace loaderscope::dataset {
namespace {

std::string_view refusal(const made::JpegWish& wish, int channels = 3, int width = 64,
                         int height = 48) {
  const made::ByteVector stored =
      made::encode_jpeg(made::photograph(width, height, 7, 1.0, channels), wish);
  return engine_refusal(image_facts(std::as_bytes(std::span(stored.data(), stored.size()))));
}

TEST(JpegEngines, AcceptsBaselineImages) {
  for (const auto& [horizontal, vertical] : {std::pair{1, 1}, {2, 1}, {2, 2}, {1, 2}})
    EXPECT_EQ(refusal({.horizontal = horizontal, .vertical = vertical}), "");
  EXPECT_EQ(refusal({.horizontal = 1, .vertical = 1}, 1), "");
  EXPECT_EQ(refusal({.restart_rows = 1}), "");
  EXPECT_EQ(refusal({}, 3, 16, 16), "");
}

TEST(JpegEngines, NamesReasonOfRefusal) {
  EXPECT_EQ(refusal({.progressive = true}), "progressive");
  EXPECT_EQ(refusal({.horizontal = 1, .vertical = 1, .stored_as = JCS_CMYK}, 4), "cmyk");
  EXPECT_EQ(refusal({.horizontal = 4, .vertical = 1}), "subsampling");
  EXPECT_EQ(refusal({.arithmetic = true}), "coding");
  EXPECT_EQ(refusal({.horizontal = 1, .vertical = 1, .scan_per_colour = true}), "scans");
  EXPECT_EQ(refusal({}, 3, 15, 64), "small");
  ImageFacts large;
  large.kind = Kind::jpeg;
  large.baseline = true;
  large.subsampling = "420";
  large.width = 20'000;
  large.height = 100;
  EXPECT_EQ(engine_refusal(large), "large");
  EXPECT_EQ(engine_refusal(image_facts({})), "format");
}

}  // namespace
}  // namespace loaderscope::dataset
