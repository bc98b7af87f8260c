// Decodes stored images, may augment them, and encodes them anew.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dataset/pack_options.h"
#include "loaderscope/augment.h"
#include "loaderscope/decode.h"

namespace loaderscope::dataset {

// How far images are from what they were encoded from.
struct PixelError {
  std::int64_t images = 0, values = 0;
  double squares = 0;  // of the differences of 8-bit values

  void merge(const PixelError& other);
  double decibels() const;  // peak signal to noise; of no difference infinite
};

// Of one thread.
class ReEncoder {
 public:
  explicit ReEncoder(const PackOptions& options);  // with an `encode`

  // Valid until the next call. The sample's number decides what is drawn for it. Throws SampleError
  // for what cannot be decoded.
  std::span<const std::byte> recode(std::int64_t sample, std::span<const std::byte> stored);
  // Of the last one: decodes what was made and compares it with what it was made from.
  void measure_error();
  const PixelError& error() const { return error_; }

 private:
  void make_image(std::int64_t sample, const ImageHeader& header);

  Encoding encoding_;
  int max_side_;
  std::unique_ptr<Augmenter> augmenter_;  // null: images stay as they are, but for their size
  int size_;                              // of augmented ones
  std::unique_ptr<Decoder> decoder_;
  RgbImage image_;
  std::vector<std::byte> made_;
  PixelError error_;
};

}  // namespace loaderscope::dataset
