#include "dataset/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

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

std::int64_t drawn_class(const MakeOptions& options, std::int64_t index) {
  // index x classes / count, rounded down, without overflow: both factors are below 2^34 and 2^20.
  return index * options.classes / options.count;
}

std::string class_folder(std::int64_t classes, std::int64_t class_index) {
  const auto digits = std::max<std::size_t>(3, std::to_string(classes - 1).size());
  return fmt::format("class_{:0{}}", class_index, digits);
}

std::string image_path(const MakeOptions& options, std::int64_t index) {
  const std::string_view suffix = format_row(options.format).suffix();
  return fmt::format("{}/img_{:07}{}", class_folder(options.classes, drawn_class(options, index)),
                     index, suffix);
}

namespace {

constexpr std::array kSampled = {1,  5,  10, 20, 30, 40, 50, 60, 70, 78,
                                 84, 88, 91, 93, 95, 96, 97, 98, 99, 100};
constexpr int kPilots = 3;

// Sizes of one image by quality; encodes each quality at most once and keeps the two nearest to the
// target.
class Search {
 public:
  Search(const RgbImage& image, const PlannedImage& plan, Subsampling subsampling)
      : image_(image), target_(plan.target_bytes), settings_{90, subsampling, plan.progressive} {}

  // Moves the bracket. Returns the size.
  double try_quality(int quality) {
    settings_.quality = quality;
    format_row(Format::jpeg).encode(image_, settings_, buffer_);
    const auto size = static_cast<double>(buffer_.size());
    if (size < target_) {
      below_ = quality;
      std::swap(below_bytes_, buffer_);
    } else {
      above_ = quality;
      std::swap(above_bytes_, buffer_);
    }
    return size;
  }

  bool found() const { return above_ - below_ <= 1; }
  // The nearest quality to `guess` that can still narrow the bracket.
  int useful(int guess) const { return std::clamp(guess, below_ + 1, above_ - 1); }

  std::vector<std::byte>& choose(double dither) {
    if (below_ == 0) return above_bytes_;  // quality 1 is too large already
    if (above_ == 101) return below_bytes_;
    const auto low = static_cast<double>(below_bytes_.size());
    const auto high = static_cast<double>(above_bytes_.size());
    return dither < (target_ - low) / (high - low) ? above_bytes_ : below_bytes_;
  }

 private:
  const RgbImage& image_;
  double target_;
  LossySettings settings_;
  int below_ = 0, above_ = 101;
  std::vector<std::byte> buffer_, below_bytes_, above_bytes_;
};

}  // namespace

QualityCurve::QualityCurve(Subsampling subsampling, std::uint64_t seed) : quality_values_(100) {
  Photographer photographer;
  std::vector<std::byte> bytes;
  std::array<double, kSampled.size()> sums{};
  constexpr int kWidth = 320, kHeight = 240;
  for (int pilot = 0; pilot < kPilots; ++pilot) {
    const RgbImage& image =
        photographer.take({kWidth, kHeight, ~seed, static_cast<std::uint64_t>(pilot), pilot - 1.0});
    for (std::size_t i = 0; i < kSampled.size(); ++i) {
      format_row(Format::jpeg).encode(image, {kSampled[i], subsampling, false}, bytes);
      sums[i] += static_cast<double>(bytes.size()) / (kWidth * kHeight * kPilots);
    }
  }
  for (std::size_t i = 0; i + 1 < kSampled.size(); ++i) {
    for (int quality = kSampled[i]; quality <= kSampled[i + 1]; ++quality) {
      const double share =
          static_cast<double>(quality - kSampled[i]) / (kSampled[i + 1] - kSampled[i]);
      quality_values_[static_cast<std::size_t>(quality - 1)] =
          sums[i] + share * (sums[i + 1] - sums[i]);
    }
  }
}

double QualityCurve::bytes_per_pixel(int quality) const {
  return quality_values_[static_cast<std::size_t>(std::clamp(quality, 1, 100) - 1)];
}

int QualityCurve::quality_for(double bytes_per_pixel) const {
  const auto above =
      std::lower_bound(quality_values_.begin(), quality_values_.end(), bytes_per_pixel);
  if (above == quality_values_.begin()) return 1;
  if (above == quality_values_.end()) return 100;
  const bool nearer_below = bytes_per_pixel - above[-1] < *above - bytes_per_pixel;
  return static_cast<int>(above - quality_values_.begin()) + (nearer_below ? 0 : 1);
}

void encode_to_target(const RgbImage& image, const PlannedImage& plan, Subsampling subsampling,
                      const QualityCurve& curve, std::vector<std::byte>& out) {
  const double pixels = static_cast<double>(image.width) * image.height;
  Search search(image, plan, subsampling);
  // An image that came out twice as large as the curve says wants the quality of half as many
  // bytes.
  double aim = plan.target_bytes / pixels;
  while (!search.found()) {
    const int quality = search.useful(curve.quality_for(aim));
    const double size = search.try_quality(quality);
    aim = curve.bytes_per_pixel(quality) * plan.target_bytes / size;
  }
  std::swap(out, search.choose(plan.dither));
}

}  // namespace loaderscope::dataset
