#include "dataset/recoder.h"

#include <cmath>
#include <limits>

#include "dataset/shrink.h"

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

Recoder::Recoder(const Encoding& encoding, int max_side)
    : encoding_(encoding), max_side_(max_side), decoder_(make_any_decoder({})) {}

std::span<const std::byte> Recoder::recode(std::span<const std::byte> stored) {
  const ImageHeader header = decoder_->open(stored);
  shrink(decoder_->decode({0, 0, header.width, header.height}), max_side_, image_);
  LossySettings settings;
  settings.quality = encoding_.quality;
  row_of(encoding_.format).encode(image_, settings, made_);
  return made_;
}

void Recoder::measure_error() {
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
