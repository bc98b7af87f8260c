// Images whose stored bytes lie in the memory of a pretended GPU, through the back ends of nvJPEG
// that read them there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/jpeg_refusal.h"
#include "loaderscope/errors.h"
#include "unit/device/jpeg_decoder_fixture.h"

namespace loaderscope::cuda {
namespace {

using nvjpeg::Backend, nvjpeg::Code;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Way = JpegOutcome::Way;

class KeptJpegs : public JpegDecoderFixture {
 protected:
  ~KeptJpegs() override {
    for (void* place : kept_) runtime_.free(place);
  }

  void make_device_decoder(std::size_t batch, Backend backend = Backend::hardware_device) {
    JpegDecoderOptions wanted = options(batch);
    wanted.backend = backend;
    make_decoder(wanted);
    EXPECT_FALSE(decoder_->takes_regions());
  }

  // Copies all images of the batch to the GPU, and asks about each.
  void keep_all() {
    std::size_t largest = 0;
    for (std::size_t i = 0; i < stored_.size(); ++i) {
      const std::span<const std::byte> stored = stored_[i];
      JpegTask& task = tasks_[i];
      task.is_kept = true;
      task.image = {task.region.width, task.region.height};
      task.refusal = decoder_->ask(stored, task.image);
      void* place = nullptr;
      ASSERT_TRUE(runtime_.allocate(stored.size(), place).ok());
      ASSERT_TRUE(runtime_.copy_to_device(place, stored.data(), stored.size(), stream_).ok());
      kept_.push_back(place);
      largest = std::max(largest, stored.size());
    }
    decoder_->reserve_stored(largest);
  }

  bool decode_kept() {
    pixels_.assign(tasks_.size() * kRoom, kUntouched);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      tasks_[i].stored = {static_cast<const std::byte*>(kept_[i]), stored_[i].size()};
      tasks_[i].to = &pixels_[i * kRoom];
    }
    outcomes_.assign(tasks_.size(), {});
    if (!decoder_->decode(tasks_, begin_, end_, outcomes_)) return false;
    EXPECT_TRUE(runtime_.synchronise(end_).ok());
    return true;
  }

  std::vector<std::string_view> reasons() const {
    std::vector<std::string_view> all;
    for (const JpegOutcome& outcome : outcomes_) all.push_back(outcome.reason);
    return all;
  }

  std::vector<void*> kept_;
};

TEST_F(KeptJpegs, DecodesFromDeviceMemory) {
  make_device_decoder(70);
  add(images(70));
  keep_all();
  const int parsed = nvjpeg_->calls("parse");
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(decode_kept());
    expect_all_pixels();
    EXPECT_EQ(count(Way::engines), 70U);
  }
  EXPECT_THAT(batches(), ElementsAre(63U, 7U, 63U, 7U));
  EXPECT_EQ(nvjpeg_->calls("parse"), parsed);
  EXPECT_EQ(runtime_.calls("copy_out"), 0);
}

TEST_F(KeptJpegs, CopiesRefusedImagesBack) {
  make_device_decoder(8);
  add({image(1), image(2, {.progressive = true}),
       image(3, {.horizontal = 1, .vertical = 1, .stored_as = JCS_CMYK}, 96, 80, 4),
       image(5, {.arithmetic = true}), image(7, {}, 15, 64), image(8)});
  keep_all();
  ASSERT_TRUE(decode_kept());
  EXPECT_THAT(reasons(), ElementsAre("", "progressive", "cmyk", "coding", "small", ""));
  EXPECT_EQ(count(Way::cpu), 4U);
  EXPECT_EQ(runtime_.calls("copy_out"), 4);
  for (const std::size_t i : {0U, 1U, 3U, 4U, 5U}) expect_pixels(i);
}

TEST_F(KeptJpegs, SendsFailedImageToHost) {
  make_device_decoder(21);
  add(images(9));
  add({image(77)});
  keep_all();
  nvjpeg_->image_gives = [bytes = stored_[9]](std::span<const std::byte> stored) {
    return std::equal(stored.begin(), stored.end(), bytes.begin(), bytes.end())
               ? Code::execution_failed
               : Code::success;
  };
  ASSERT_TRUE(decode_kept());
  expect_all_pixels();
  EXPECT_EQ(outcomes_[9].way, Way::cpu);
  EXPECT_EQ(outcomes_[9].reason, "failed");
  EXPECT_EQ(count(Way::engines), 9U);
}

TEST_F(KeptJpegs, ReportsImagesWithoutPixels) {
  make_device_decoder(4);
  made::ByteVector truncated = image(1), damaged = image(2);
  truncated.resize(truncated.size() / 2);
  const std::size_t middle = damaged.size() / 2;
  for (std::size_t i = middle; i < middle + 60; i += 2) {
    damaged[i] = std::byte{0xff};
    damaged[i + 1] = std::byte{0xd9};
  }
  add({image(1)});
  add(truncated, {0, 0, 96, 80});
  add(damaged, {0, 0, 96, 80});
  keep_all();
  ASSERT_TRUE(decode_kept());
  EXPECT_THAT(reasons(), ElementsAre("", "damaged", "failed"));
  expect_pixels(0);
  ASSERT_TRUE(outcomes_[1].error.has_value());
  EXPECT_EQ(outcomes_[1].error->kind, SampleError::Kind::truncated);
  EXPECT_TRUE(outcomes_[2].error.has_value());
}

TEST_F(KeptJpegs, DecodesImageOfAnotherSizeOnHost) {
  make_device_decoder(4);
  add(image(1), {0, 0, 48, 40});  // the other parser found fewer pixels
  keep_all();
  ASSERT_TRUE(decode_kept());
  EXPECT_THAT(reasons(), ElementsAre("region"));
  expect_pixels(0);
}

TEST_F(KeptJpegs, LeavesImagesOutsideOfDeviceMemoryToHost) {
  make_device_decoder(4);
  add(images(2));
  ASSERT_TRUE(decode());
  expect_all_pixels();
  EXPECT_THAT(reasons(), ElementsAre("other", "other"));
  EXPECT_THAT(batches(), ElementsAre());
}

TEST_F(KeptJpegs, LeavesRestartIntervalsToHostWithoutEngines) {
  for (const bool has_engines : {true, false}) {
    make_device_decoder(4, has_engines ? Backend::hardware_device : Backend::gpu_hybrid_device);
    EXPECT_EQ(decoder_->ask(image(1), {96, 80}), "");
    EXPECT_EQ(decoder_->ask(image(1, {.restart_interval = 2}), {96, 80}),
              has_engines ? "" : "other");
    EXPECT_EQ(decoder_->ask(image(1, {.progressive = true}), {96, 80}), "progressive");
  }
}

TEST_F(KeptJpegs, CallsNoAllocatorAfterwards) {
  make_device_decoder(64);
  add(images(20));
  add({image(1, {.progressive = true})});
  keep_all();
  const auto allocations = [&] {
    return runtime_.calls("allocate") + runtime_.calls("allocate_host") +
           runtime_.calls("make_event") + runtime_.calls("make_stream");
  };
  const int before = allocations();
  for (int round = 0; round < 3; ++round) ASSERT_TRUE(decode_kept());
  EXPECT_EQ(allocations(), before);
}

TEST_F(KeptJpegs, RejectsGpuWithoutBackEnd) {
  nvjpeg_->device_backends_give = Code::implementation_not_supported;
  try {
    make_device_decoder(4);
    FAIL() << "a missing back end is taken";
  } catch (const RunError& error) {
    EXPECT_EQ(error.sentence(),
              "GPU 0: nvJPEG 13.0.1 cannot decode images that lie in the memory of this GPU "
              "(NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED)");
    EXPECT_EQ(error.hint(), "leave out --resident, or give --resident decoded --decode cpu");
  }
  nvjpeg_->engines = 0;
  try {
    make_device_decoder(4);
    FAIL() << "a GPU without engines is taken";
  } catch (const RunError& error) {
    EXPECT_EQ(error.sentence(), "GPU 0 has no JPEG engines");
  }
}

TEST(JpegRestarts, FindsThemBeforeTheScan) {
  const auto stored = [](int interval) {
    return made::encode_jpeg(made::photograph(64, 48, 1, 1.0, 3), {.restart_interval = interval});
  };
  EXPECT_FALSE(has_restarts(stored(0)));
  made::ByteVector with = stored(3);
  EXPECT_TRUE(has_restarts(with));
  for (std::size_t size = 0; size < with.size(); ++size)
    has_restarts(std::span(with).first(size));  // reads nothing after the end
  with.resize(20);
  EXPECT_FALSE(has_restarts(with));
}

}  // namespace
}  // namespace loaderscope::cuda
