// Drawn batches for the kernels that augment, with the bytes that the host makes of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "device/cuda/device_objects.h"
#include "device/cuda/make_augment_job.h"
#include "loaderscope/augment.h"

namespace loaderscope::cuda {

// The speciality of the drawn samples.
enum class CaseKind { crops, tiny, colours, warps, far_warps, eight_steps, scaled, cropped, large };

struct CaseSample {
  std::vector<std::uint8_t> bytes;
  Pixels pixels;  // `data` is in `bytes`
  AugmentRecipe recipe;
  bool is_crop = false;         // the kernels get `crop` in place of the pixels
  std::vector<std::byte> crop;  // packed RGB
  std::vector<std::byte> expected;
};

struct AugmentCase {
  AugmentOptions options;
  std::vector<CaseSample> samples;
};

class CaseMaker {
 public:
  CaseMaker(CaseKind kind, unsigned seed) : kind_(kind), random_(seed) {}

  AugmentCase make() {
    AugmentCase made;
    made.options = draw_options();
    const auto augmenter = make_augmenter(made.options);
    AugmentOptions crop_options = made.options;
    crop_options.operations.resize(1);
    crop_options.transfer = Transfer::u8;
    crop_options.layout = Layout::nhwc;
    const auto cropper = make_augmenter(crop_options);
    made.samples.resize(static_cast<std::size_t>(kind_ == CaseKind::large ? 1 : below(4) + 1));
    for (CaseSample& sample : made.samples) {
      const ImageHeader header{draw_side(), draw_side()};
      sample.recipe = augmenter->choose(below(1000), below(1000), header);
      if (kind_ == CaseKind::far_warps) stretch(made.options.size, sample.recipe.steps[0]);
      draw_pixels(header, made.options.size, sample);
      sample.expected.resize(static_cast<std::size_t>(sample_bytes(made.options)));
      augmenter->apply(sample.pixels, sample.recipe, sample.expected.data());
      sample.is_crop =
          (kind_ == CaseKind::cropped && below(4) > 0) || !fits_kernel(made.options, sample.recipe);
      if (!sample.is_crop) continue;
      AugmentRecipe crop = sample.recipe;
      crop.step_count = 0;
      sample.crop.resize(static_cast<std::size_t>(sample_bytes(crop_options)));
      cropper->apply(sample.pixels, crop, sample.crop.data());
    }
    return made;
  }

 private:
  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  // Small sides as often as large ones.
  int log_uniform(double low, double high) {
    return static_cast<int>(
        std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random_)));
  }
  std::string pick(const std::vector<std::string>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
  }

  int draw_side() {
    if (kind_ == CaseKind::tiny) return 1 + below(6);
    if (kind_ == CaseKind::large) return 600 + below(600);
    return log_uniform(8, 300);
  }

  int draw_size() {
    if (kind_ == CaseKind::large) return kMaxKernelSize - below(2);
    if (kind_ == CaseKind::far_warps) return 33 + below(15);
    // Reduced regions of fewer pixels may lack one that is read.
    return log_uniform(kind_ == CaseKind::scaled ? 4 : 1, 72);
  }

  AugmentOptions draw_options() {
    AugmentOptions options;
    options.size = draw_size();
    options.antialias = below(4) > 0;
    options.seed = random_();
    options.layout = below(2) == 0 ? Layout::nchw : Layout::nhwc;
    const int type = below(3);
    options.transfer = type == 0 ? Transfer::f32 : type == 1 ? Transfer::f16 : Transfer::u8;
    options.operations = draw_steps();
    options.operations.insert(
        options.operations.begin(),
        pick({"random-resized-crop", "random-resized-crop:0.001..1:0.1..10", "resize-centre-crop",
              "resize-centre-crop:" + std::to_string(options.size + below(100))}));
    if (options.transfer != Transfer::u8 && below(4) > 0)
      options.operations.push_back(pick({"normalise", "normalise:0.5:0.001", "normalise:0:1000"}));
    return options;
  }

  std::vector<std::string> draw_steps() {
    if (kind_ == CaseKind::colours) return {colours(), colours()};
    if (kind_ == CaseKind::warps || kind_ == CaseKind::far_warps) return {warp()};
    std::vector<std::string> steps;
    if (kind_ == CaseKind::eight_steps) {
      steps = {"flip"};
      while (steps.size() < 1 + kMaxRecipeSteps) steps.push_back(any_step());
      return steps;
    }
    if (below(2) == 0) steps.emplace_back("flip");
    if (kind_ != CaseKind::crops && below(2) == 0) steps.push_back(any_step());
    return steps;
  }
  std::string any_step() {
    const int kind = below(3);
    return kind == 0 ? "flip:0.9" : kind == 1 ? colours() : warp();
  }
  std::string colours() {
    return pick({"colour-jitter", "colour-jitter:1:1:1:0.5", "colour-jitter:0..16",
                 "colour-jitter:0:0..16", "colour-jitter:0:0:0..16", "colour-jitter:0:0:0:0.5"});
  }
  std::string warp() {
    return pick({"rotate:180", "rotate:5", "affine:0:1:1", "affine:15:0.1:0.1:0.5..2:30:30",
                 "affine:180:1:1:0.01..0.02", "affine:180:0.2:0.2:10..100",
                 "affine:180:0:0:0.01..1:-80..80:-80..80"});
  }

  // Warps so far that one column of the second segment shows the source. The padding of the row
  // may decide whether that segment reaches beyond kFarthest.
  void stretch(int size, RecipeStep& step) {
    const double centre = size / 2.0, column = 32 + below(size - 32);
    const double per_pixel = (below(2) == 0 ? 1 : -1) * (1500 + below(3'000'000) / 1000.0);
    const double to = below(1000 * size) / 1000.0;
    step.values = {per_pixel, 0, to - centre - per_pixel * (column + 0.5 - centre), 0, 1, 0};
  }

  // The recipe's region with a margin, as a decoder gives it: at full size or reduced.
  void draw_pixels(const ImageHeader& header, int size, CaseSample& sample) {
    const Region& need = sample.recipe.region;
    int d = kind_ == CaseKind::scaled ? 1 << below(3) : 1;
    while (d > 1 && std::min(need.width, need.height) / d < size) d /= 2;  // the rule of decoders
    const int margin = below(3);
    const auto low = [&](int at) { return std::max(at / d - margin, 0); };
    const auto high = [&](int at, int whole) {
      return std::min((at + d - 1) / d + margin, (whole + d - 1) / d);
    };
    Region held{low(need.x), low(need.y), 0, 0};
    held.width = high(need.x + need.width, header.width) - held.x;
    held.height = high(need.y + need.height, header.height) - held.y;
    const auto row = static_cast<std::size_t>(3 * held.width);
    const std::size_t stride = row + static_cast<std::size_t>(below(9));
    sample.bytes.resize(stride * static_cast<std::size_t>(held.height - 1) + row);
    fill(sample.bytes);
    sample.pixels = {sample.bytes.data(), stride, held, d};
  }

  // Noise, only black and white, or a slope with steps.
  void fill(std::vector<std::uint8_t>& bytes) {
    const int kind = below(4);
    auto state = static_cast<std::uint32_t>(random_());
    std::uint32_t slope = 0;
    for (std::uint8_t& byte : bytes) {
      state = state * 1664525u + 1013904223u;
      if (kind == 0) byte = state >> 31 == 0 ? 0 : 255;
      if (kind == 1) byte = static_cast<std::uint8_t>((slope += state >> 31) / 2);
      if (kind >= 2) byte = static_cast<std::uint8_t>(state >> 24);
    }
  }

  CaseKind kind_;
  std::mt19937 random_;
};

// The bytes that `runtime` makes of a case, by its copies and kernels.
inline std::vector<std::byte> augment_case(Runtime& runtime, const AugmentCase& made) {
  DeviceObjects objects(runtime, "GPU 0");
  const Stream stream = objects.stream();
  const auto bring = [&](const void* host, std::size_t bytes) {
    void* const place = objects.memory(bytes, "input");
    EXPECT_TRUE(runtime.copy_to_device(place, host, bytes, stream).ok());
    return place;
  };
  AugmentJob job = make_augment_job(made.options);
  std::vector<SampleJob> samples;
  for (const CaseSample& sample : made.samples) {
    if (sample.is_crop) {
      const auto* rgb =
          static_cast<const std::uint8_t*>(bring(sample.crop.data(), sample.crop.size()));
      samples.push_back(
          make_crop_job(sample.recipe, rgb, 3 * static_cast<std::size_t>(made.options.size)));
    } else {
      Pixels pixels = sample.pixels;
      pixels.data =
          static_cast<const std::uint8_t*>(bring(sample.bytes.data(), sample.bytes.size()));
      samples.push_back(make_sample_job(made.options, sample.recipe, pixels));
    }
    job.has_steps = job.has_steps || sample.recipe.step_count > 0;
  }
  job.count = static_cast<std::int32_t>(samples.size());
  job.samples =
      static_cast<const SampleJob*>(bring(samples.data(), samples.size() * sizeof(SampleJob)));
  std::vector<std::byte> out(samples.size() * static_cast<std::size_t>(sample_bytes(made.options)),
                             std::byte{0xee});
  job.out = bring(out.data(), out.size());
  if (job.has_steps) {
    const auto bytes = static_cast<std::size_t>(scratch_bytes(job.count, job.size));
    job.scratch = static_cast<std::uint32_t*>(objects.memory(bytes, "scratch"));
  }
  EXPECT_TRUE(runtime.augment(job, stream).ok());
  EXPECT_TRUE(runtime.synchronise_device().ok());
  EXPECT_TRUE(runtime.copy_to_host(out.data(), job.out, out.size(), stream).ok());
  EXPECT_TRUE(runtime.synchronise_device().ok());
  return out;
}

// Compares every byte of drawn batches with at least `images` samples in total.
inline void expect_host_bytes(Runtime& runtime, CaseKind kind, int images) {
  unsigned seed = 1;
  for (int seen = 0; seen < images; ++seed) {
    const AugmentCase made = CaseMaker(kind, seed).make();
    const std::vector<std::byte> bytes = augment_case(runtime, made);
    std::vector<std::byte> expected;
    for (const CaseSample& sample : made.samples)
      expected.insert(expected.end(), sample.expected.begin(), sample.expected.end());
    ASSERT_EQ(bytes.size(), expected.size());
    const auto differ = std::mismatch(bytes.begin(), bytes.end(), expected.begin());
    ASSERT_TRUE(differ.first == bytes.end())
        << "seed " << seed << ", size " << made.options.size << ", byte "
        << differ.first - bytes.begin() << " of " << bytes.size() << ": "
        << testing::PrintToString(made.options.operations);
    seen += static_cast<int>(made.samples.size());
  }
}

}  // namespace loaderscope::cuda
