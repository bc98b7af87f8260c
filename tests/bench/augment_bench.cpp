// Microseconds of one image: 500x375 pixels through random-resized-crop to 224, per option. A batch
// of 64 places is written in turn, as a loader does, so that the output does not stay in a cache.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "loaderscope/augment.h"

namespace {

using namespace loaderscope;

constexpr int kWidth = 500, kHeight = 375;
constexpr std::int64_t kBatch = 64;

std::vector<std::uint8_t> photograph() {
  std::vector<std::uint8_t> rgb(3 * kWidth * kHeight);
  std::uint32_t state = 1;
  for (auto& value : rgb)
    value = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  return rgb;
}

void run(benchmark::State& state, const AugmentOptions& options) {
  const auto rgb = photograph();
  const auto augmenter = make_augmenter(options);
  const auto bytes = static_cast<std::size_t>(sample_bytes(options));
  std::vector<std::byte> batch(kBatch * bytes);
  std::int64_t sample = 0;
  for (auto _ : state) {
    const AugmentRecipe recipe = augmenter->choose(0, sample, {kWidth, kHeight});
    const Region& region = recipe.region;
    const auto offset = static_cast<std::size_t>(3 * (region.y * kWidth + region.x));
    const Pixels pixels{rgb.data() + offset, 3 * kWidth, region};
    augmenter->apply(pixels, recipe,
                     batch.data() + static_cast<std::size_t>(sample++ % kBatch) * bytes);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  state.SetLabel(simd_target());
}

const std::vector<std::string> kPlain = {"random-resized-crop"};
const std::vector<std::string> kUsual = {"random-resized-crop", "flip", "normalise"};
const std::vector<std::string> kJitter = {"random-resized-crop", "colour-jitter", "normalise"};
const std::vector<std::string> kRotate = {"random-resized-crop", "rotate", "normalise"};

BENCHMARK_CAPTURE(run, two_tap_nchw_f32, {.operations = kUsual, .antialias = false})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, antialias_nchw_f32, {.operations = kUsual})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, antialias_nchw_f16, {.operations = kUsual, .transfer = Transfer::f16})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, antialias_nchw_u8, {.operations = kPlain, .transfer = Transfer::u8})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(
    run, two_tap_nhwc_u8,
    {.operations = kPlain, .transfer = Transfer::u8, .layout = Layout::nhwc, .antialias = false})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, antialias_nhwc_u8,
                  {.operations = kPlain, .transfer = Transfer::u8, .layout = Layout::nhwc})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, antialias_nhwc_f32, {.operations = kUsual, .layout = Layout::nhwc})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, no_flip_nchw_f32, {.operations = {"random-resized-crop", "normalise"}})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, colour_jitter_nchw_f32, {.operations = kJitter})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, rotate_nchw_f32, {.operations = kRotate})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(run, centre_crop_nchw_f32, {.operations = {"resize-centre-crop", "normalise"}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
