// What every decoder checks before it takes memory, and the memory itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "loaderscope/decode.h"

namespace loaderscope {

inline constexpr int kChannels = 3;

// Throws SampleError too_large.
void check_size(const ImageHeader& header, const DecodeOptions& options);

// Throws SampleError truncated where no image of that size can be stored in so few bytes: a short
// file must not make a decoder take (and clear) memory for the pixels that its header promises.
void check_stored_size(const ImageHeader& header, std::size_t stored, std::int64_t pixels_per_byte);

// Throws std::logic_error: whoever chose the region has a bug.
void check_region(const Region& region, const ImageHeader& header);

// Memory for pixels that is used again from image to image. Contents are not kept and not cleared.
class PixelBuffer {
 public:
  // Throws SampleError too_large when there is no memory.
  std::uint8_t* take(std::size_t bytes);

 private:
  std::unique_ptr<std::uint8_t[]> data_;
  std::size_t capacity_ = 0;
};

}  // namespace loaderscope
