// Images per second of one core: all of an image against the regions that random-resized-crop
// takes.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <string>

#include "dataset/encode.h"
#include "loaderscope/decode.h"
#include "unit/decode/made_jpeg.h"

namespace loaderscope {
namespace {

constexpr int kWidth = 500;
constexpr int kHeight = 375;
constexpr int kImages = 24;

struct Sample {
  made::ByteVector stored, with_restarts;
  Region crop;
};

// Draws a region like torchvision: area 0.08 to 1, ratio 3/4 to 4/3. Returns the whole image after
// ten regions that do not fit.
Region random_resized_crop(std::mt19937& random, int width_of_image, int height_of_image) {
  std::uniform_real_distribution<double> area(0.08, 1.0);
  std::uniform_real_distribution<double> log_ratio(std::log(0.75), std::log(4.0 / 3.0));
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area(random) * width_of_image * height_of_image;
    const double ratio = std::exp(log_ratio(random));
    const int width = static_cast<int>(std::lround(std::sqrt(target * ratio)));
    const int height = static_cast<int>(std::lround(std::sqrt(target / ratio)));
    if (width > width_of_image || height > height_of_image) continue;
    const auto below = [&](int end) {
      return static_cast<int>(random() % static_cast<unsigned>(end + 1));
    };
    return {below(width_of_image - width), below(height_of_image - height), width, height};
  }
  return {0, 0, width_of_image, height_of_image};
}

// About 72 KiB each.
std::vector<Sample> make_samples(bool progressive, int scale = 1) {
  std::mt19937 random(1);
  std::vector<Sample> samples;
  const made::JpegWish wish{.quality = 90, .progressive = progressive};
  for (unsigned i = 0; i < kImages / static_cast<unsigned>(scale); ++i) {
    samples.push_back(
        {made::encode_jpeg(made::photograph(scale * kWidth, scale * kHeight, i, 1.6), wish),
         {},
         random_resized_crop(random, scale * kWidth, scale * kHeight)});
    dataset::add_restarts_to_jpeg(samples.back().stored, samples.back().with_restarts);
  }
  return samples;
}

// Makes the samples once, because that takes longer than decoding them.
const std::vector<Sample>& cached_samples(bool progressive) {
  static const std::vector<Sample> plain = make_samples(false);
  if (!progressive) return plain;
  static const std::vector<Sample> multi_scan = make_samples(true);
  return multi_scan;
}

void decode(benchmark::State& state, const DecodeOptions& options, bool progressive, bool whole) {
  const std::vector<Sample>& samples = cached_samples(progressive);
  const auto decoder = make_any_decoder(options);
  std::size_t i = 0, bytes = 0;
  double pixels = 0;
  for (auto _ : state) {
    const Sample& sample = samples[i++ % samples.size()];
    const ImageHeader header = decoder->open(sample.stored);
    const Region region = whole ? Region{0, 0, header.width, header.height} : sample.crop;
    benchmark::DoNotOptimize(decoder->decode(region).data);
    bytes += sample.stored.size();
    pixels += static_cast<double>(region.width) * region.height;
  }
  const auto count = static_cast<double>(state.iterations());
  state.counters["images/s"] = benchmark::Counter(count, benchmark::Counter::kIsRate);
  state.counters["KiB"] = static_cast<double>(bytes) / count / 1024;
  state.counters["area"] = pixels / count / kWidth / kHeight;
}

void whole_image(benchmark::State& state) { decode(state, {}, false, true); }
void crop(benchmark::State& state) { decode(state, {}, false, false); }
void crop_fast_upsampling(benchmark::State& state) {
  decode(state, {.fast_upsampling = true}, false, false);
}
void crop_scaled_for_112(benchmark::State& state) {
  decode(state, {.dct_scale_auto = true, .wanted = 112}, false, false);
}
void whole_progressive(benchmark::State& state) { decode(state, {}, true, true); }
void crop_progressive(benchmark::State& state) { decode(state, {}, true, false); }

// Crops of images of 500x375 and 2000x1500, plain or as data pack --restart-rows writes them.
void decode_crops(benchmark::State& state, const std::vector<Sample>& samples,
                  made::ByteVector Sample::*stored) {
  const auto decoder = make_any_decoder({});
  std::size_t i = 0;
  for (auto _ : state) {
    const Sample& sample = samples[i++ % samples.size()];
    decoder->open(sample.*stored);
    benchmark::DoNotOptimize(decoder->decode(sample.crop).data);
  }
  state.counters["images/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
const std::vector<Sample>& large_samples() {
  static const std::vector<Sample> large = make_samples(false, 4);
  return large;
}
void crop_with_restarts(benchmark::State& state) {
  decode_crops(state, cached_samples(false), &Sample::with_restarts);
}
void large_crop(benchmark::State& state) { decode_crops(state, large_samples(), &Sample::stored); }
void large_crop_with_restarts(benchmark::State& state) {
  decode_crops(state, large_samples(), &Sample::with_restarts);
}
BENCHMARK(crop_with_restarts)->Unit(benchmark::kMicrosecond);
BENCHMARK(large_crop)->Unit(benchmark::kMicrosecond);
BENCHMARK(large_crop_with_restarts)->Unit(benchmark::kMicrosecond);

BENCHMARK(whole_image)->Unit(benchmark::kMicrosecond);
BENCHMARK(crop)->Unit(benchmark::kMicrosecond);
BENCHMARK(crop_fast_upsampling)->Unit(benchmark::kMicrosecond);
BENCHMARK(crop_scaled_for_112)->Unit(benchmark::kMicrosecond);
BENCHMARK(whole_progressive)->Unit(benchmark::kMicrosecond);
BENCHMARK(crop_progressive)->Unit(benchmark::kMicrosecond);

// libjpeg alone, as a bare loop would use it.
void whole_image_bare(benchmark::State& state) {
  const std::vector<Sample>& samples = cached_samples(false);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        made::decode_whole_jpeg(samples[i++ % samples.size()].stored).data.data());
  }
  state.counters["images/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(whole_image_bare)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace loaderscope
