#include "loaderscope/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Compute, ParsesAndFormatsText) {
  for (const char* text : {"12ms", "gemm:12ms", "lognormal:12ms:0.1", "gemm:lognormal:12ms:0.1",
                           "resnet50-h100", "gemm:cosmoflow-a100"}) {
    EXPECT_EQ(compute_to_text(parse_compute(text)), text);
  }
  EXPECT_FALSE(parse_compute("12ms").gemm);
  EXPECT_TRUE(parse_compute("gemm:12ms").gemm);
  EXPECT_EQ(parse_compute("gemm:12ms").mean, 12e6);
  EXPECT_EQ(parse_compute("resnet50-h100").mean, 224e6);
  EXPECT_EQ(parse_compute("resnet50-h100").per_batch, 400);
}

TEST(Compute, RejectsNonsense) {
  for (const char* text : {"", "gemm:", "gemm:x", "gemm:gemm:1ms", "resnet50", "12"})
    EXPECT_THROW(parse_compute(text), ValueError) << text;
  try {
    parse_compute("gemm:resnet50-h10");
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'resnet50-h100'?"));
  }
}

class ResolveCompute : public testing::Test {
 protected:
  RunConfig resolved(const std::vector<std::pair<const char*, const char*>>& given,
                     const MachineLimits& limits = {4, false, ""}) {
    RunConfig config;
    for (const auto& [key, value] : given) set_field(config, "", key, value);
    notes_.clear();
    return resolve(config, limits, notes_);
  }

  std::vector<std::string> notes_;
};

TEST_F(ResolveCompute, SetsBatchSizeOfPresetUnlessGiven) {
  const RunConfig own = resolved({{"compute", "unet3d-h100"}});
  EXPECT_EQ(own.loader.batch_size, 7);
  EXPECT_EQ(own.mean_compute_time(), 323 * kMillisecond);
  const RunConfig given = resolved({{"compute", "resnet50-h100"}, {"batch", "100"}});
  EXPECT_EQ(given.loader.batch_size, 100);
  EXPECT_EQ(given.mean_compute_time(), 56 * kMillisecond);
  EXPECT_EQ(resolved({{"compute", "12ms"}, {"batch", "7"}}).mean_compute_time(), 12'000'000);
}

TEST_F(ResolveCompute, NeedsRealDeviceForKernels) {
  resolved({{"compute", "gemm:12ms"}});
  EXPECT_THAT(notes_, Contains(HasSubstr("compute = gemm:12ms: nothing is multiplied")));
  resolved({{"compute", "12ms"}, {"launches", "3"}, {"graph", "true"}});
  EXPECT_THAT(notes_, Contains(HasSubstr("launches = 3 has no effect")));
  EXPECT_THAT(notes_, Contains(HasSubstr("graph = true has no effect")));
  EXPECT_THROW(resolved({{"compute", "gemm:12ms"}, {"launches", "3"}}), UsageError);
  EXPECT_THROW(resolved({{"compute", "gemm:12ms"}, {"graph", "true"}}), UsageError);
  EXPECT_THROW(resolved({{"compute", "12ms"}, {"launches", "0"}}), UsageError);
}

TEST_F(ResolveCompute, SimulatesDeviceWithoutGpuAndSaysWhy) {
  const MachineLimits none{4, false, "no NVIDIA driver here; install one."};
  EXPECT_EQ(resolved({{"compute", "1ms"}}, none).trainer.device.value, "sim");
  EXPECT_THAT(notes_, Contains("no GPU: no NVIDIA driver here; the device is simulated"));
  resolved({{"compute", "1ms"}, {"device", "sim"}}, none);
  EXPECT_THAT(notes_, IsEmpty());
  resolved({{"compute", "1ms"}, {"engine", "model"}}, none);
  EXPECT_THAT(notes_, IsEmpty());
  resolved({{"compute", "1ms"}});
  EXPECT_THAT(notes_, IsEmpty());
}

}  // namespace
}  // namespace loaderscope
