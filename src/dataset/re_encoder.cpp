#include "dataset/re_encoder.h"

#include <cmath>
#include <limits>

#include "dataset/downscale.h"

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
  if (!options.augment.empty()) augmenter_ = make_augmenter(augmentation_of(options));
}

void ReEncoder::make_image(std::int64_t sample, const ImageHeader& header) {
  if (!augmenter_) {
    shrink(decoder_->decode({0, 0, header.width, header.height}), max_side_, image_);
    return;
  }
  image_.width = image_.height = size_;
  image_.rgb.resize(image_.stride() * static_cast<std::size_t>(size_));
  augmenter_->apply(decoder_->decode(augmenter_->choose(0, sample, header)),
                    reinterpret_cast<std::byte*>(image_.rgb.data()));
}

std::span<const std::byte> ReEncoder::recode(std::int64_t sample,
                                             std::span<const std::byte> stored) {
  make_image(sample, decoder_->open(stored));
  LossySettings settings;
  settings.quality = encoding_.quality;
  row_of(encoding_.format).encode(image_, settings, made_);
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

}  // namespace loaderscope::dataset
