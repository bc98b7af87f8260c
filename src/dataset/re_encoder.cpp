#include "dataset/re_encoder.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace loaderscope::dataset {

void PixelError::merge(const PixelError& other) {
  images += other.images;
  values += other.values;
  squares += other.squares;
}

double PixelError::decibels() const {
  if (squares == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(values) / squares);
}

ReEncoder::ReEncoder(const PackOptions& options)
    : encoding_(*options.encode),
      max_side_(options.max_side),
      size_(options.size),
      decoder_(make_any_decoder({})) {
  if (!options.augment.empty()) augmenter_ = make_augmenter(augment_options(options));
}

void ReEncoder::make_image(std::int64_t sample, const ImageHeader& header) {
  if (!augmenter_) {
    shrink(decoder_->decode({0, 0, header.width, header.height}), max_side_, image_);
    return;
  }
  image_.width = image_.height = size_;
  image_.rgb.resize(image_.stride() * static_cast<std::size_t>(size_));
  const AugmentRecipe recipe = augmenter_->choose(0, sample, header);
  augmenter_->apply(decoder_->decode(recipe.region), recipe,
                    reinterpret_cast<std::byte*>(image_.rgb.data()));
}

std::span<const std::byte> ReEncoder::recode(std::int64_t sample,
                                             std::span<const std::byte> stored) {
  make_image(sample, decoder_->open(stored));
  LossySettings settings;
  settings.quality = encoding_.quality;
  format_row(encoding_.format).encode(image_, settings, made_);
  return made_;
}

void ReEncoder::measure_error() {
  const ImageHeader header = decoder_->open(made_);
  const Pixels made = decoder_->decode({0, 0, header.width, header.height});
  ++error_.images;
  error_.values += std::ssize(image_.rgb);
  for (int y = 0; y < image_.height; ++y) {
    const std::uint8_t* row = made.data + static_cast<std::size_t>(y) * made.stride;
    for (std::size_t i = 0; i < image_.stride(); ++i) {
      const double apart = static_cast<double>(row[i]) - image_.row(y)[i];
      error_.squares += apart * apart;
    }
  }
}

namespace {

// Old pixels that a new one covers: those from `first`, with the covered part of each.
struct Cover {
  int first = 0;
  std::vector<float> parts;
};

std::vector<Cover> covers(int from, int to) {
  std::vector<Cover> all(static_cast<std::size_t>(to));
  const double step = static_cast<double>(from) / to;
  for (int i = 0; i < to; ++i) {
    const double begin = i * step, end = std::min<double>(from, (i + 1) * step);
    Cover& cover = all[static_cast<std::size_t>(i)];
    cover.first = static_cast<int>(begin);
    for (int at = cover.first; at < end && at < from; ++at) {
      const double part = std::min<double>(at + 1, end) - std::max<double>(at, begin);
      cover.parts.push_back(static_cast<float>(part / (end - begin)));
    }
  }
  return all;
}

void copy(const Pixels& pixels, RgbImage& to) {
  to.rgb.resize(to.stride() * static_cast<std::size_t>(to.height));
  for (int y = 0; y < to.height; ++y)
    std::copy_n(pixels.data + static_cast<std::size_t>(y) * pixels.stride, to.stride(), to.row(y));
}

// The sum of whole rows, weighed: one row of the new height, in the old width.
void add_rows(const Pixels& pixels, const Cover& cover, std::vector<float>& sum) {
  std::fill(sum.begin(), sum.end(), 0.0f);
  const std::uint8_t* row = pixels.data + static_cast<std::size_t>(cover.first) * pixels.stride;
  for (const float part : cover.parts) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part * static_cast<float>(row[i]);
    row += pixels.stride;
  }
}

void add_columns(const std::vector<float>& sum, const std::vector<Cover>& columns,
                 std::uint8_t* out) {
  for (const Cover& column : columns) {
    float pixel[3] = {};
    const float* at = sum.data() + static_cast<std::size_t>(column.first) * 3;
    for (const float part : column.parts) {
      for (int c = 0; c < 3; ++c) pixel[c] += part * at[c];
      at += 3;
    }
    for (const float value : pixel) *out++ = static_cast<std::uint8_t>(std::lround(value));
  }
}

int shrunk_side(int side, double factor) {
  return std::max(1, static_cast<int>(std::lround(side * factor)));
}

}  // namespace

void shrink(const Pixels& pixels, int max_side, RgbImage& to) {
  const int width = pixels.region.width, height = pixels.region.height;
  const int longer = std::max(width, height);
  const double factor =
      max_side > 0 && max_side < longer ? static_cast<double>(max_side) / longer : 1;
  to.width = shrunk_side(width, factor);
  to.height = shrunk_side(height, factor);
  if (factor == 1) return copy(pixels, to);
  to.rgb.resize(to.stride() * static_cast<std::size_t>(to.height));
  const std::vector<Cover> rows = covers(height, to.height), columns = covers(width, to.width);
  std::vector<float> sum(static_cast<std::size_t>(width) * 3);
  for (int y = 0; y < to.height; ++y) {
    add_rows(pixels, rows[static_cast<std::size_t>(y)], sum);
    add_columns(sum, columns, to.row(y));
  }
}

}  // namespace loaderscope::dataset
