#include "decode/decoders.h"

#include <new>
#include <stdexcept>
#include <string>

namespace loaderscope {
namespace {

// One giant image must not make a worker hold its memory for the rest of the run.
constexpr std::size_t kKeptAtMost = std::size_t{64} << 20;

std::string size_text(const ImageHeader& header) {
  return std::to_string(header.width) + " x " + std::to_string(header.height) + " pixels";
}

std::int64_t pixel_count(const ImageHeader& header) {
  return std::int64_t{header.width} * header.height;
}

}  // namespace

void check_size(const ImageHeader& header, const DecodeOptions& options) {
  if (pixel_count(header) <= options.largest_pixels) return;
  throw SampleError(SampleError::Kind::too_large, "its header asks for " + size_text(header) +
                                                      ", more than the limit of " +
                                                      std::to_string(options.largest_pixels));
}

void check_stored_size(const ImageHeader& header, std::size_t stored,
                       std::int64_t pixels_per_byte) {
  if (pixel_count(header) / pixels_per_byte <= static_cast<std::int64_t>(stored)) return;
  throw SampleError(SampleError::Kind::truncated,
                    "its " + std::to_string(stored) + " bytes cannot hold the " +
                        size_text(header) + " that its header promises");
}

void check_region(const Region& region, const ImageHeader& header) {
  const bool inside = region.x >= 0 && region.y >= 0 && region.width > 0 && region.height > 0 &&
                      region.width <= header.width - region.x &&
                      region.height <= header.height - region.y;
  if (!inside) throw std::logic_error("a region outside the image was asked for");
}

std::uint8_t* PixelBuffer::take(std::size_t bytes) {
  if (bytes <= capacity_ && (capacity_ <= kKeptAtMost || bytes > kKeptAtMost)) return data_.get();
  data_.reset();
  capacity_ = 0;
  try {
    data_ = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
  } catch (const std::bad_alloc&) {
    throw SampleError(
        SampleError::Kind::too_large,
        "its pixels need " + std::to_string(bytes >> 20) + " MiB, which are not there");
  }
  capacity_ = bytes;
  return data_.get();
}

}  // namespace loaderscope
