#include "dataset/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/distribution.h"
#include "dataset/random.h"

namespace loaderscope::dataset {
namespace {

constexpr double kSizeSpread = 0.2;  // ln bytes per unit of busyness, near the result of --quality

int scaled(int side, double factor) {
  return static_cast<int>(std::max(std::round(side * factor), 1.0));
}

// Within the limits of the options, whatever is drawn.
void draw_size(const SizeDistribution& size, Random& random, Subject& subject) {
  const double width = size.width, height = size.height;
  double factor = std::exp(size.sigma * random.normal());
  factor = std::min(
      {factor, kMaxSide / std::max(width, height), std::sqrt(kMaxPixels / (width * height))});
  subject.width = scaled(size.width, factor);
  subject.height = scaled(size.height, factor);
}

// Coarse enough that the last bit of a machine's log() does not matter.
double rounded(double value) { return std::round(value * 1024) / 1024; }

}  // namespace

PlannedImage plan_image(const MakeOptions& options, std::int64_t index) {
  const auto n = static_cast<double>(options.count);
  const auto position = static_cast<double>(shuffled_index(index, options.count, options.seed, 0));
  const auto turn = static_cast<double>(shuffled_index(index, options.count, options.seed, 1));
  Random random(options.seed, mixed(static_cast<std::uint64_t>(index)));
  PlannedImage image;
  image.subject.seed = options.seed;
  image.subject.index = static_cast<std::uint64_t>(index);
  image.subject.busyness = rounded(inverse_normal((position + 0.5) / n));
  draw_size(options.size, random, image.subject);
  const double share = options.progressive_share;
  image.progressive = std::floor((turn + 1) * share + 1e-9) > std::floor(turn * share + 1e-9);
  image.dither = random.uniform();
  if (options.bytes_per_pixel) {
    const double pixels = static_cast<double>(image.subject.width) * image.subject.height;
    const double spread = kSizeSpread * image.subject.busyness - kSizeSpread * kSizeSpread / 2;
    image.target_bytes = *options.bytes_per_pixel * pixels * std::exp(spread);
  }
  return image;
}

std::int64_t class_of(const MakeOptions& options, std::int64_t index) {
  // index x classes / count, rounded down, without overflow: both factors are below 2^34 and 2^20.
  return index * options.classes / options.count;
}

std::string class_folder(std::int64_t classes, std::int64_t class_index) {
  const auto digits = std::max<std::size_t>(3, std::to_string(classes - 1).size());
  return fmt::format("class_{:0{}}", class_index, digits);
}

std::string image_path(const MakeOptions& options, std::int64_t index) {
  const std::string_view suffix = row_of(options.format).suffix();
  return fmt::format("{}/img_{:07}{}", class_folder(options.classes, class_of(options, index)),
                     index, suffix);
}

}  // namespace loaderscope::dataset
