#include "dataset/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/plan.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

TEST(Options, ReadsSizes) {
  const SizeDistribution plain = parse_size_distribution("500x375");
  EXPECT_EQ(plain.width, 500);
  EXPECT_EQ(plain.height, 375);
  EXPECT_EQ(plain.sigma, 0);
  const SizeDistribution spread = parse_size_distribution("lognormal:640x480:0.3");
  EXPECT_EQ(spread.width, 640);
  EXPECT_EQ(spread.sigma, 0.3);
  EXPECT_EQ(size_distribution_to_text(spread), "lognormal:640x480:0.3");
  for (const char* wrong :
       {"", "500", "x", "500x", "0x5", "-5x5", "5x5x5", "70000x5", "60000x60000", "lognormal:5x5",
        "lognormal:5x5:", "lognormal:5x5:9", "normal:5x5:1"}) {
    EXPECT_THROW(parse_size_distribution(wrong), ValueError) << wrong;
  }
}

TEST(Options, ReadsBytesPerPixel) {
  EXPECT_EQ(parse_bytes_per_pixel("0.5"), 0.5);
  EXPECT_DOUBLE_EQ(parse_bytes_per_pixel("72KiB/500x375"), 72.0 * 1024 / 187'500);
  for (const char* wrong : {"", "0", "-1", "nan", "72KiB", "72KiB/", "/5x5", "0/5x5"}) {
    EXPECT_THROW(parse_bytes_per_pixel(wrong), ValueError) << wrong;
  }
}

TEST(Options, ReadsNames) {
  EXPECT_EQ(parse_subsampling("444"), Subsampling::s444);
  EXPECT_EQ(parse_format("raw"), Format::raw);
  EXPECT_THROW(parse_subsampling("421"), ValueError);
  EXPECT_THAT([] { parse_format("jepg"); },
              testing::ThrowsMessage<ValueError>(testing::HasSubstr("did you mean 'jpeg'")));
}

TEST(Plan, KeepsSizesWithinLimits) {
  MakeOptions options;
  options.size = {60'000, 2'900, 2};
  for (int i = 0; i < 1000; ++i) {
    const Subject subject = plan_image(options, i).subject;
    EXPECT_LE(subject.width, kMaxSide);
    EXPECT_LE(std::int64_t{subject.width} * subject.height, 178'956'970);
    EXPECT_GE(subject.height, 1);
  }
}

TEST(Plan, NamesClassesAndImages) {
  MakeOptions options;
  options.count = 25;
  options.classes = 10;
  EXPECT_EQ(image_path(options, 0), "class_000/img_0000000.jpg");
  EXPECT_EQ(image_path(options, 24), "class_009/img_0000024.jpg");
}

TEST(Plan, KeepsMeansExact) {
  MakeOptions options;
  options.count = 50;
  options.progressive_share = 0.1;
  double busyness = 0;
  int progressive = 0;
  for (int i = 0; i < 50; ++i) {
    const PlannedImage image = plan_image(options, i);
    busyness += image.subject.busyness;
    progressive += image.progressive ? 1 : 0;
  }
  EXPECT_NEAR(busyness, 0, 0.1);
  EXPECT_EQ(progressive, 5);
}

}  // namespace
}  // namespace loaderscope::dataset
