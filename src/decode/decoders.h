// Decoders of the formats, and the limits that they keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "loaderscope/decode.h"

namespace loaderscope {

// Checks of every decoder before it allocates memory, and the memory itself.

inline constexpr int kChannels = 3;

// Throws SampleError too_large.
void check_size(const ImageHeader& header, const DecodeOptions& options);

// Throws SampleError truncated if no image of that size can be stored in the given bytes. A short
// file must not make a decoder allocate (and clear) memory for the pixels that its header declares.
void check_stored_size(const ImageHeader& header, std::size_t stored, std::int64_t pixels_per_byte);

// Throws std::logic_error for a region that the caller must not choose.
void check_region(const Region& region, const ImageHeader& header);

// Memory for pixels that is reused between images. Contents are neither kept nor cleared.
class PixelBuffer {
 public:
  // Throws SampleError too_large if memory runs out.
  std::uint8_t* take(std::size_t bytes);

 private:
  std::unique_ptr<std::uint8_t[]> data_;
  std::size_t capacity_ = 0;
};

// make_NAME_decoder() for each format of images, for the registry. Decoders of absent libraries are
// not linked.
#define LOADERSCOPE_IMAGE_FORMAT(name, ...) \
  std::unique_ptr<Decoder> make_##name##_decoder(const DecodeOptions& options);
#include "base/image_formats.def"
#undef LOADERSCOPE_IMAGE_FORMAT

}  // namespace loaderscope
