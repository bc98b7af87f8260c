// Decodes stored images, optionally augments them, and encodes them again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dataset/encode.h"
#include "dataset/pack_options.h"
#include "loaderscope/augment.h"
#include "loaderscope/decode.h"

namespace loaderscope::dataset {

// Difference between images and their originals.
struct PixelError {
  std::int64_t images = 0, values = 0;
  double squares = 0;  // sum of the squared differences of 8-bit values

  void merge(const PixelError& other);
  double decibels() const;  // peak signal-to-noise ratio; infinite without a difference
};

// Encoder of one thread.
class ReEncoder {
 public:
  explicit ReEncoder(const PackOptions& options);  // requires `encode`

  // Valid until the next call. The sample's number selects its random numbers. Throws SampleError
  // if decoding fails.
  std::span<const std::byte> recode(std::int64_t sample, std::span<const std::byte> stored);
  // Decodes the last result and compares it with its original.
  void measure_error();
  const PixelError& error() const { return error_; }

 private:
  void make_image(std::int64_t sample, const ImageHeader& header);

  Encoding encoding_;
  int max_side_;
  std::unique_ptr<Augmenter> augmenter_;  // null: images stay as they are, but for their size
  int size_;                              // side of augmented images
  std::unique_ptr<Decoder> decoder_;
  RgbImage image_;
  std::vector<std::byte> made_;
  PixelError error_;
};

// Makes an image smaller: each new pixel is the mean of the area that it covers. The longer side
// becomes `max_side` where it is more, the other one keeps the proportion; 0, or a smaller image: a
// copy. `to` is used again.
void shrink(const Pixels& pixels, int max_side, RgbImage& to);

}  // namespace loaderscope::dataset
