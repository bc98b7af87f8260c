// Rates of decoding a video. The CPU decodes here in place of a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/has_ffmpeg.h"
#include "loaderscope/errors.h"
#include "probe/measurement.h"
#include "unit/device/pretend_runtime.h"
#include "unit/source/fixtures.h"

namespace loaderscope::probe {
namespace {

using ::testing::HasSubstr;

class VideoEngines : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = no_ffmpeg()) GTEST_SKIP() << *reason;
  }
  std::string why_not(const std::string& data) {
    const ProbedData probed(data, "", 1 << 20, stop_);
    Outcome outcome;
    try {
      measure_video_engines({options_, stop_, cpus_, probed, monotonic_now() + kSecond}, outcome);
    } catch (const RunError& error) {
      return error.what();
    }
    return "";
  }

  const std::string folder_ = source::fixture("videos");
  ProfileOptions options_;
  Cpus cpus_ = read_cpus("/");
  std::atomic<int> stop_{0};
};

TEST_F(VideoEngines, CountsFramesThatAreDecoded) {
  const ProbedData data("video:" + folder_ + "/left", "", 1 << 20, stop_);
  const VideoRates video = measure_video(
      data.file(), false, {options_, stop_, cpus_, data, monotonic_now() + kSecond / 10});
  ASSERT_EQ(video.rates.size(), 1U);
  EXPECT_GT(video.rates[0].second.per_s, 0);
  EXPECT_THAT(video.codec, HasSubstr("48x32"));
}

TEST_F(VideoEngines, SaysWhatIsMissing) {
  EXPECT_EQ(why_not(""), "it needs --data with videos");
  EXPECT_EQ(why_not("video:" + folder_ + "/left"), "built without CUDA");
  options_.runtime = std::make_shared<cuda::PretendRuntime>();
  // The runtime only pretends. FFmpeg looks for a GPU by itself.
  EXPECT_THAT(why_not("video:" + folder_ + "/left"),
              ::testing::AnyOf("", HasSubstr("FFmpeg finds no GPU that decodes")));
}

}  // namespace
}  // namespace loaderscope::probe
