// The answer to the question whether GPU 0 decodes JPEG images.
#include "device/cuda/nvjpeg_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "device/decode_ways.h"
#include "unit/device/pretend_nvjpeg.h"

namespace loaderscope::cuda {
namespace {

using ::testing::HasSubstr;

// A driver that does not answer until the test ends.
class HungNvjpeg : public PretendNvjpeg {
 public:
  HungNvjpeg(PretendRuntime& runtime, std::shared_future<void> end)
      : PretendNvjpeg(runtime), end_(std::move(end)) {}

  Code make_handle(nvjpeg::Backend, nvjpeg::Allocator*, nvjpeg::Allocator*,
                   nvjpeg::Handle&) override {
    end_.wait();
    return Code::internal_error;
  }

 private:
  std::shared_future<void> end_;
};

class NvjpegCheck : public testing::Test {
 protected:
  FindNvjpeg find() {
    return [this](int driver) {
      asked_driver_ = driver;
      return NvjpegLibrary{nvjpeg_, nvjpeg_ == nullptr ? "libnvjpeg not found: nowhere." : ""};
    };
  }
  std::optional<std::string> why_no_engines() {
    return cuda::why_no_engines(runtime_, find(), 10 * kSecond);
  }

  std::shared_ptr<PretendRuntime> runtime_ = std::make_shared<PretendRuntime>();
  std::shared_ptr<PretendNvjpeg> nvjpeg_ = std::make_shared<PretendNvjpeg>(*runtime_);
  int asked_driver_ = 0;
};

TEST_F(NvjpegCheck, FindsEngines) {
  EXPECT_EQ(why_no_nvjpeg(runtime_.get(), find()), std::nullopt);
  EXPECT_EQ(nvjpeg_->calls("make_handle"), 0);  // only the question for engines makes one
  EXPECT_EQ(why_no_engines(), std::nullopt);
  EXPECT_EQ(asked_driver_, 13'000);
  EXPECT_EQ(nvjpeg_->owned(), 0);
}

TEST_F(NvjpegCheck, NamesGpuWithoutEngines) {
  nvjpeg_->engines = 0;
  EXPECT_EQ(why_no_engines(), "Pretender 0 has no JPEG engines.");
  EXPECT_EQ(why_no_nvjpeg(runtime_.get(), find()), std::nullopt);
}

TEST_F(NvjpegCheck, ReportsMissingLibrary) {
  nvjpeg_ = nullptr;
  EXPECT_EQ(why_no_nvjpeg(runtime_.get(), find()), "libnvjpeg not found: nowhere.");
  EXPECT_EQ(why_no_engines(), "libnvjpeg not found: nowhere.");
}

TEST_F(NvjpegCheck, LooksForNothingWithoutDriver) {
  runtime_->driver = 0;
  EXPECT_THAT(*why_no_engines(), HasSubstr("no NVIDIA driver here"));
  EXPECT_EQ(asked_driver_, 0);
  for (const char* call : {"device_count", "properties", "set_device"})
    EXPECT_EQ(runtime_->calls(call), 0) << call;
  EXPECT_THAT(*why_no_nvjpeg(nullptr, find()), HasSubstr("built without the CUDA toolkit"));
}

TEST_F(NvjpegCheck, ReportsDeviceThatIsTaken) {
  runtime_->fail("set_device", 0, "cudaErrorDevicesUnavailable");
  EXPECT_THAT(*why_no_engines(), HasSubstr("the GPU is taken by another process"));
}

TEST_F(NvjpegCheck, AnswersWhileDriverHangs) {
  std::promise<void> end;
  nvjpeg_ = std::make_shared<HungNvjpeg>(*runtime_, end.get_future().share());
  EXPECT_THAT(*cuda::why_no_engines(runtime_, find(), kMillisecond),
              HasSubstr("did not start nvJPEG within 1.000 ms"));
  const std::weak_ptr<PretendNvjpeg> used_by_thread = nvjpeg_;
  nvjpeg_ = nullptr;
  end.set_value();
  while (!used_by_thread.expired()) std::this_thread::yield();  // the thread has ended
}

TEST(DecodeWays, KeepsCpuAvailable) {
  ASSERT_EQ(decode_way_table().size(), 4U);
  EXPECT_EQ(decode_way_table().front().row.name, "cpu");
  EXPECT_EQ(decode_way_table().front().row.reason_not_available(), std::nullopt);
}

}  // namespace
}  // namespace loaderscope::cuda
