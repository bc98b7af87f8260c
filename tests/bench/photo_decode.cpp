// The measuring half of photo_bench.py: photographs (PPM files of one size) against as many made
// images of that size. They are encoded alike, and their decoding alternates. Prints one JSON line
// per quality and subsampling.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "dataset/encode.h"
#include "dataset/photograph.h"

namespace {

using namespace loaderscope::dataset;
using Stored = std::vector<std::vector<std::byte>>;
using Clock = std::chrono::steady_clock;

RgbImage read_ppm(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  RgbImage image;
  int most = 0;
  file >> magic >> image.width >> image.height >> most;
  file.get();
  if (!file || magic != "P6" || most != 255)
    throw std::runtime_error(std::string(path) + ": not a P6 file");
  image.rgb.resize(image.stride() * static_cast<std::size_t>(image.height));
  file.read(reinterpret_cast<char*>(image.rgb.data()),
            static_cast<std::streamsize>(image.rgb.size()));
  if (!file) throw std::runtime_error(std::string(path) + ": cut off");
  return image;
}

Stored encoded(const std::vector<RgbImage>& images, const LossySettings& settings) {
  Stored stored(images.size());
  for (std::size_t i = 0; i < images.size(); ++i) encode_jpeg(images[i], settings, stored[i]);
  return stored;
}

void decode(const std::vector<std::byte>& stored, std::vector<std::uint8_t>& out) {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(stored.data()), stored.size());
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&jpeg);
  const std::size_t stride = std::size_t{jpeg.output_width} * 3;
  out.resize(stride * jpeg.output_height);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = out.data() + jpeg.output_scanline * stride;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  jpeg_destroy_decompress(&jpeg);
}

// CPU time of this thread in ns, which a busy machine does not change.
double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct Pair {
  double real = 0, made = 0;  // ns
};

// Photographs and made images alternate, so that both see the same clock rate and neighbours.
// `made` is a multiple of `real`: every photograph is decoded equally often.
Pair decode_alternately(const Stored& real, const Stored& made) {
  std::vector<std::uint8_t> out;
  Pair total;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const double begin = cpu_ns();
    decode(real[i % real.size()], out);
    const double middle = cpu_ns();
    decode(made[i], out);
    total.real += middle - begin;
    total.made += cpu_ns() - middle;
  }
  return total;
}

struct Sizes {
  double mean, low, high;
};

Sizes measure_sizes(const Stored& stored) {
  double sum = 0, low = 1e18, high = 0;
  for (const auto& one : stored) {
    const auto size = static_cast<double>(one.size());
    sum += size;
    low = std::min(low, size);
    high = std::max(high, size);
  }
  return {sum / static_cast<double>(stored.size()), low, high};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
}

void compare(const std::vector<RgbImage>& photos, const std::vector<RgbImage>& made,
             const LossySettings& settings, int rounds) {
  const Stored real = encoded(photos, settings), ours = encoded(made, settings);
  const Sizes real_sizes = measure_sizes(real), our_sizes = measure_sizes(ours);
  const double real_bytes = real_sizes.mean * static_cast<double>(ours.size());
  const double our_bytes = our_sizes.mean * static_cast<double>(ours.size());
  std::vector<double> real_times, our_times, ratios;
  for (int round = -1; round < rounds; ++round) {
    const Pair spent = decode_alternately(real, ours);
    if (round < 0) continue;  // warm-up
    real_times.push_back(spent.real / real_bytes);
    our_times.push_back(spent.made / our_bytes);
    ratios.push_back(our_times.back() / real_times.back());
  }
  std::sort(ratios.begin(), ratios.end());
  // The 95 % interval of the median by order statistics (normal approximation of the binomial).
  const double n = rounds, half = 0.98 * std::sqrt(n);
  const auto low = static_cast<std::size_t>(std::max(0.0, n / 2 - half));
  const auto high = static_cast<std::size_t>(std::min(n - 1, n / 2 + half));
  fmt::print(
      "{{\"quality\": {}, \"subsampling\": \"{}\", \"photo_bytes\": [{:.0f}, {:.0f}, {:.0f}], "
      "\"made_bytes\": [{:.0f}, {:.0f}, {:.0f}], \"photo_ns_per_byte\": {:.3f}, "
      "\"made_ns_per_byte\": {:.3f}, \"ratio\": {:.4f}, \"low\": {:.4f}, \"high\": {:.4f}}}\n",
      settings.quality, kSubsamplingNames[static_cast<std::size_t>(settings.subsampling)],
      real_sizes.mean, real_sizes.low, real_sizes.high, our_sizes.mean, our_sizes.low,
      our_sizes.high, median(real_times), median(our_times), median(ratios), ratios[low],
      ratios[high]);
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: photo_decode ROUNDS IMAGES_PER_PHOTO PHOTO.ppm...\n");
    return 64;
  }
  const int rounds = std::max(1, std::atoi(argv[1])), repeats = std::max(1, std::atoi(argv[2]));
  const int count = repeats * (argc - 3);
  std::vector<RgbImage> photos, made;
  for (int i = 3; i < argc; ++i) photos.push_back(read_ppm(argv[i]));
  Photographer photographer;
  const auto begin = Clock::now();
  for (int i = 0; i < count; ++i) {
    const double busyness = Random(7, static_cast<std::uint64_t>(i)).normal();
    made.push_back(photographer.take(
        {photos[0].width, photos[0].height, 7, static_cast<std::uint64_t>(i), busyness}));
  }
  const std::chrono::duration<double> taken = Clock::now() - begin;
  fmt::print("{{\"made_per_second\": {:.1f}}}\n", count / taken.count());
  for (const Subsampling subsampling :
       {Subsampling::s420, Subsampling::s422, Subsampling::s444, Subsampling::grey}) {
    for (const int quality : {75, 90, 95})
      compare(photos, made, {quality, subsampling, false}, rounds);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "photo_decode: %s\n", error.what());
    return 1;
  }
}
