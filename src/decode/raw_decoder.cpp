#include <cstdint>
#include <string>

#include "base/image_formats.h"
#include "decode/decoders.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMagicBytes = kRawMagic.size();
constexpr std::uint32_t kMaxSide = 1U << 24;

std::uint32_t little_endian(std::span<const std::byte, 4> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return value;
}

class RawDecoder final : public Decoder {
 public:
  explicit RawDecoder(const DecodeOptions& options) : options_(options) {}

  ImageHeader open(std::span<const std::byte> stored) override {
    if (stored.size() < kRawHeader) {
      throw SampleError(SampleError::Kind::truncated, "its raw header ends early");
    }
    const std::uint32_t width = little_endian(stored.subspan<kMagicBytes, 4>());
    const std::uint32_t height = little_endian(stored.subspan<kMagicBytes + 4, 4>());
    check_sides(width, height);
    header_ = {static_cast<int>(width), static_cast<int>(height)};
    check_size(header_, options_);
    pixels_ = stored.subspan(kRawHeader);
    check_length(std::size_t{width} * height * kChannels);
    return header_;
  }

  Pixels decode(const Region& region) override {
    check_region(region, header_);
    const std::size_t stride = static_cast<std::size_t>(header_.width) * kChannels;
    const std::size_t offset = static_cast<std::size_t>(region.y) * stride +
                               static_cast<std::size_t>(region.x) * kChannels;
    return {reinterpret_cast<const std::uint8_t*>(pixels_.data()) + offset, stride, region};
  }

 private:
  static void check_sides(std::uint32_t width, std::uint32_t height) {
    if (width == 0 || height == 0) {
      throw SampleError(SampleError::Kind::damaged, "its raw header says that it has no pixels");
    }
    if (width <= kMaxSide && height <= kMaxSide) return;
    throw SampleError(SampleError::Kind::too_large, "its raw header asks for " +
                                                        std::to_string(width) + " x " +
                                                        std::to_string(height) + " pixels");
  }

  void check_length(std::size_t expected) const {
    if (pixels_.size() == expected) return;
    const bool shorter = pixels_.size() < expected;
    throw SampleError(shorter ? SampleError::Kind::truncated : SampleError::Kind::damaged,
                      "it has " + std::to_string(pixels_.size()) +
                          " bytes of raw pixels where its header "
                          "says " +
                          std::to_string(expected));
  }

  DecodeOptions options_;
  ImageHeader header_;
  std::span<const std::byte> pixels_;
};

}  // namespace

std::unique_ptr<Decoder> make_raw_decoder(const DecodeOptions& options) {
  return std::make_unique<RawDecoder>(options);
}

}  // namespace loaderscope
