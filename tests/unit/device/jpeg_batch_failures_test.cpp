// Failures of nvJPEG in the middle of a run: each row of the table of results, hangs, and lost
// devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "loaderscope/errors.h"
#include "unit/device/jpeg_decoder_fixture.h"

namespace loaderscope::cuda {
namespace {

using nvjpeg::Code;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Way = JpegOutcome::Way;

class JpegBatchFailures : public JpegDecoderFixture {
 protected:
  // Each batch with the image at `index` has this result.
  void fail_image(std::size_t index, Code code) {
    nvjpeg_->image_gives = [bytes = stored_[index], code](std::span<const std::byte> stored) {
      return std::equal(stored.begin(), stored.end(), bytes.begin(), bytes.end()) ? code
                                                                                  : Code::success;
    };
  }
  // A batch whose image at 9 is unlike the others.
  void add_batch_with_odd_image() {
    add(images(9));
    add({image(77)});
    add(images(11));
  }
};

struct Row {
  Code code;
  std::string_view reason;
};

class JpegBatchResult : public JpegBatchFailures, public testing::WithParamInterface<Row> {};

TEST_P(JpegBatchResult, SendsFailedImageToHost) {
  make_decoder(21);
  add_batch_with_odd_image();
  fail_image(9, GetParam().code);
  ASSERT_TRUE(decode());
  expect_all_pixels();
  EXPECT_EQ(count(Way::cpu), 1U);
  EXPECT_EQ(outcomes_[9].way, Way::cpu);
  EXPECT_EQ(outcomes_[9].reason, GetParam().reason);
  EXPECT_FALSE(outcomes_[9].error.has_value());
  EXPECT_EQ(decoder_->facts().shortages, GetParam().code == Code::allocator_failure ? 6 : 0);
  // Six of these calls failed: 21, 10, 5, 3, 2 and 1 images.
  EXPECT_THAT(batches(), ElementsAre(21U, 10U, 5U, 5U, 2U, 3U, 1U, 2U, 1U, 1U, 11U));
  end_decoder();
}

INSTANTIATE_TEST_SUITE_P(
    Codes, JpegBatchResult,
    testing::Values(Row{Code::bad_jpeg, "damaged"}, Row{Code::incomplete_bitstream, "damaged"},
                    Row{Code::jpeg_not_supported, "other"},
                    Row{Code::implementation_not_supported, "other"},
                    Row{Code::allocator_failure, "memory"}, Row{Code::invalid_parameter, "failed"},
                    Row{Code::execution_failed, "failed"}, Row{Code::internal_error, "failed"}));

TEST_F(JpegBatchFailures, ReportsErrorOfDamagedImage) {
  make_decoder(21);
  add_batch_with_odd_image();
  // A marker in the middle of the scan: the header and the end are good.
  made::ByteVector& damaged = stored_[9];
  const auto middle = damaged.size() / 2;
  for (std::size_t i = middle; i < middle + 60; i += 2) {
    damaged[i] = std::byte{0xff};
    damaged[i + 1] = std::byte{0xd9};
  }
  ASSERT_TRUE(decode());
  EXPECT_EQ(outcomes_[9].way, Way::cpu);
  EXPECT_EQ(outcomes_[9].reason, "failed");
  EXPECT_TRUE(outcomes_[9].error.has_value());
  EXPECT_EQ(count(Way::engines), 20U);
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (i != 9) expect_pixels(i);
  }
  end_decoder();
}

TEST_F(JpegBatchFailures, TriesAgainAfterOneFailedCall) {
  make_decoder(14);
  add(images(14));
  nvjpeg_->call_gives[calls_before_ + 1] = Code::internal_error;
  ASSERT_TRUE(decode());
  expect_all_pixels();
  EXPECT_EQ(count(Way::engines), 14U);
  EXPECT_THAT(batches(), ElementsAre(14U, 7U, 7U));
  end_decoder();
}

TEST_F(JpegBatchFailures, GivesUpAfterSearchForOneImage) {
  make_decoder(63);
  add(images(63));
  nvjpeg_->image_gives = [](std::span<const std::byte>) { return Code::execution_failed; };
  ASSERT_TRUE(decode());
  expect_all_pixels();
  EXPECT_EQ(count(Way::cpu), 63U);
  EXPECT_LE(batches().size(), 14U);
  end_decoder();
}

TEST_F(JpegBatchFailures, HalvesChunksThatNeedMoreMemory) {
  JpegDecoderOptions small = options(14);
  small.width = small.height = 16;
  small.arena_bytes = 400'000;  // less than 14 images of 23,040 bytes, and 7 in another state
  make_decoder(small);
  add(images(14));
  ASSERT_TRUE(decode());
  expect_all_pixels();
  EXPECT_EQ(count(Way::engines), 14U);
  EXPECT_THAT(batches(), ElementsAre(14U, 7U, 7U));
  EXPECT_EQ(decoder_->facts().shortages, 1);
  end_decoder();
}

TEST_F(JpegBatchFailures, ReportsOurBug) {
  make_decoder(7);
  add(images(7));
  nvjpeg_->call_gives[calls_before_ + 1] = Code::not_initialised;
  try {
    decode();
    FAIL() << "no error";
  } catch (const RunError& error) {
    EXPECT_EQ(error.sentence(), "GPU 0: nvJPEG failed at a batch (NVJPEG_STATUS_NOT_INITIALIZED)");
  }
  decoder_.reset();
  runtime_.free_all();
}

TEST_F(JpegBatchFailures, ReportsLostDeviceAndLeavesItAlone) {
  make_decoder(7);
  add(images(7));
  nvjpeg_->loses_at = calls_before_ + 1;
  try {
    decode();
    FAIL() << "no error";
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("GPU 0: gpu-decode: the GPU was lost"));
    EXPECT_THAT(error.what(), HasSubstr("cudaErrorIllegalAddress"));
  }
  const std::int64_t owned = runtime_.owned(), objects = nvjpeg_->owned();
  const int queries = runtime_.calls("query");
  decoder_.reset();
  EXPECT_EQ(runtime_.owned(), owned);
  EXPECT_EQ(nvjpeg_->owned(), objects);
  EXPECT_EQ(runtime_.calls("query"), queries);
  runtime_.free_all();
}

TEST_F(JpegBatchFailures, ReportsDeviceLostInTheMeantime) {
  make_decoder(63);
  add(images(63));
  ASSERT_TRUE(decode());
  runtime_.fail("query", runtime_.calls("query"), "cudaErrorLaunchFailure");
  EXPECT_THROW(
      {
        decode();
        decode();
      },
      RunError);
  decoder_.reset();
  runtime_.free_all();
}

TEST_F(JpegBatchFailures, StopsWhileEnginesHang) {
  make_decoder(21);
  add(images(21));
  nvjpeg_->hangs_at = calls_before_ + 1;
  ASSERT_TRUE(decoder_->takes_regions());
  for (int round = 0; round < 2; ++round) submit();  // fills both states
  const int queries = runtime_.calls("query");
  std::thread user([&] {
    while (runtime_.calls("query") < queries + 10) std::this_thread::yield();
    stop_ = 1;
  });
  EXPECT_FALSE(submit());
  user.join();
  decoder_.reset();
  EXPECT_GT(nvjpeg_->owned(), 0);  // the engines may still write
  runtime_.free_all();
}

}  // namespace
}  // namespace loaderscope::cuda
