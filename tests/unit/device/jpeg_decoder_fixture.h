// Batches of JPEG images through the decoder of a pretended GPU.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda/jpeg_batch_decoder.h"
#include "unit/decode/made_jpeg.h"
#include "unit/device/pretend_nvjpeg.h"
#include "unit/device/pretend_runtime.h"

namespace loaderscope::cuda {

class JpegDecoderFixture : public testing::Test {
 protected:
  static constexpr std::size_t kRoom =
      std::size_t{96} * 80 * 3 + 512;  // bytes for the pixels of an image
  static constexpr std::byte kUntouched{0x5a};

  JpegDecoderFixture() {
    EXPECT_TRUE(runtime_.make_stream(stream_).ok());
    EXPECT_TRUE(runtime_.make_event(begin_).ok());
    EXPECT_TRUE(runtime_.make_event(end_).ok());
    own_objects_ = runtime_.owned();
  }

  JpegDecoderOptions options(std::size_t batch) const {
    JpegDecoderOptions options;
    options.batch = batch;
    options.width = 96;
    options.height = 80;
    options.region_bytes = kRoom;
    options.arena_bytes = std::size_t{8} << 20;
    options.pinned_arena_bytes = std::size_t{4} << 20;
    return options;
  }

  void make_decoder(std::size_t batch) { make_decoder(options(batch)); }
  void make_decoder(const JpegDecoderOptions& options) {
    decoder_ = std::make_unique<JpegBatchDecoder>(runtime_, nvjpeg_, make_any_decoder({}), options,
                                                  stream_, stop_);
    calls_before_ = nvjpeg_->calls("decode");
  }
  // Frees the decoder, and checks that nothing is left of it.
  void end_decoder() {
    decoder_.reset();
    EXPECT_EQ(nvjpeg_->owned(), 0);
    EXPECT_EQ(runtime_.owned(), own_objects_);
  }

  static made::ByteVector image(unsigned seed, const made::JpegWish& wish = {}, int width = 96,
                                int height = 80, int channels = 3) {
    return made::encode_jpeg(made::photograph(width, height, seed, 1.0, channels), wish);
  }
  static std::vector<made::ByteVector> images(std::size_t count) {
    static const std::array kDifferent = {image(0), image(1), image(2), image(3), image(4)};
    std::vector<made::ByteVector> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(kDifferent[i % kDifferent.size()]);
    return all;
  }

  static Region whole(const made::ByteVector& stored) {
    const ImageHeader header = make_any_decoder({})->open(stored);
    return {0, 0, header.width, header.height};
  }

  // Adds an image to the batch. Its rows are a few bytes longer than its pixels.
  void add(const made::ByteVector& stored, const Region& region) {
    stored_.push_back(stored);
    JpegTask task;
    task.region = region;
    task.stride = static_cast<std::size_t>(region.width) * 3 + 5;
    tasks_.push_back(task);
  }
  void add(const std::vector<made::ByteVector>& all) {
    for (const made::ByteVector& stored : all) add(stored, whole(stored));
  }

  // Returns false if the run must stop.
  bool submit() {
    pixels_.assign(tasks_.size() * kRoom, kUntouched);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      tasks_[i].stored = stored_[i];
      tasks_[i].to = &pixels_[i * kRoom];
    }
    outcomes_.assign(tasks_.size(), {});
    return decoder_->decode(tasks_, begin_, end_, outcomes_);
  }
  // Decodes the batch, and waits for its end. Returns false if the run must stop.
  bool decode() {
    if (!submit()) return false;
    EXPECT_TRUE(runtime_.synchronise(end_).ok());
    return true;
  }

  // Checks the pixels of image i against another decode of the whole image, and its neighbours'
  // memory.
  void expect_pixels(std::size_t i) const {
    const made::Image whole_image = made::decode_whole_jpeg(stored_[i]);
    const JpegTask& task = tasks_[i];
    const auto width = static_cast<std::size_t>(task.region.width) * 3;
    for (int y = 0; y < task.region.height; ++y) {
      const std::uint8_t* expected =
          whole_image.row(task.region.y + y) + static_cast<std::size_t>(task.region.x) * 3;
      const std::byte* row = &pixels_[i * kRoom + static_cast<std::size_t>(y) * task.stride];
      ASSERT_EQ(std::memcmp(row, expected, width), 0) << "image " << i << ", row " << y;
    }
    const auto after = pixels_.begin() + static_cast<std::ptrdiff_t>(i * kRoom + task.bytes());
    const auto next = pixels_.begin() + static_cast<std::ptrdiff_t>((i + 1) * kRoom);
    EXPECT_TRUE(std::all_of(after, next, [](std::byte b) { return b == kUntouched; })) << i;
  }
  void expect_all_pixels() const {
    for (std::size_t i = 0; i < tasks_.size(); ++i) expect_pixels(i);
  }

  std::size_t count(JpegOutcome::Way way) const {
    return static_cast<std::size_t>(
        std::count_if(outcomes_.begin(), outcomes_.end(),
                      [&](const JpegOutcome& outcome) { return outcome.way == way; }));
  }
  // Sizes of the calls since the decoder was made.
  std::vector<std::size_t> batches() const {
    const std::vector<std::size_t>& all = nvjpeg_->batches();
    return {all.begin() + calls_before_, all.end()};
  }

  PretendRuntime runtime_;
  std::shared_ptr<PretendNvjpeg> nvjpeg_ = std::make_shared<PretendNvjpeg>(runtime_);
  std::atomic<int> stop_{0};
  Stream stream_;
  Event begin_, end_;
  std::int64_t own_objects_ = 0;
  int calls_before_ = 0;
  std::unique_ptr<JpegBatchDecoder> decoder_;
  std::vector<made::ByteVector> stored_;
  std::vector<JpegTask> tasks_;
  std::vector<JpegOutcome> outcomes_;
  std::vector<std::byte> pixels_;
};

}  // namespace loaderscope::cuda
