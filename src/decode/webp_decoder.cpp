// WebP by libwebp.
#include <algorithm>

#include <webp/decode.h>

#include "decode/decoders.h"

namespace loaderscope {
namespace {

using Kind = SampleError::Kind;

// Chroma upsampling looks one sample around, and libwebp moves a crop's corner to even coordinates.
constexpr int kChromaMargin = 2;

[[noreturn]] void give_up(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      throw SampleError(Kind::truncated, "its WebP data end early");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      throw SampleError(Kind::unsupported, "its kind of WebP is not known to libwebp");
    case VP8_STATUS_OUT_OF_MEMORY:
      throw SampleError(Kind::too_large, "libwebp finds no memory for its pixels");
    default:
      throw SampleError(Kind::damaged, "its WebP data are wrong");
  }
}

Region with_margin(const Region& region, const ImageHeader& header) {
  const int left = std::max(0, region.x - kChromaMargin) & ~1;
  const int top = std::max(0, region.y - kChromaMargin) & ~1;
  const int right = std::min(header.width, region.x + region.width + kChromaMargin);
  const int bottom = std::min(header.height, region.y + region.height + kChromaMargin);
  return {left, top, right - left, bottom - top};
}

class WebpDecoder final : public Decoder {
 public:
  explicit WebpDecoder(const DecodeOptions& options) : options_(options) {}

  ImageHeader open(std::span<const std::byte> stored) override {
    if (stored.empty()) throw SampleError(Kind::truncated, "it is empty");
    stored_ = stored;
    WebPBitstreamFeatures features{};
    const VP8StatusCode status = WebPGetFeatures(data(), stored.size(), &features);
    if (status != VP8_STATUS_OK) give_up(status);
    if (features.has_animation) {
      throw SampleError(Kind::unsupported,
                        "it is an animated WebP, and only still images are samples");
    }
    header_ = {features.width, features.height};
    check_size(header_, options_);
    return header_;
  }

  Pixels decode(const Region& region) override {
    check_region(region, header_);
    const Region crop = with_margin(region, header_);
    const std::size_t stride = static_cast<std::size_t>(crop.width) * kChannels;
    const std::size_t bytes = stride * static_cast<std::size_t>(crop.height);
    std::uint8_t* rows = buffer_.take(bytes);
    decode_to(rows, bytes, crop);
    const std::size_t offset = static_cast<std::size_t>(region.y - crop.y) * stride +
                               static_cast<std::size_t>(region.x - crop.x) * kChannels;
    return {rows + offset, stride, region};
  }

 private:
  const std::uint8_t* data() const { return reinterpret_cast<const std::uint8_t*>(stored_.data()); }

  void decode_to(std::uint8_t* rows, std::size_t bytes, const Region& crop) const {
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) give_up(VP8_STATUS_UNSUPPORTED_FEATURE);
    config.options.use_cropping = 1;
    config.options.crop_left = crop.x;
    config.options.crop_top = crop.y;
    config.options.crop_width = crop.width;
    config.options.crop_height = crop.height;
    config.options.no_fancy_upsampling = options_.fast_upsampling ? 1 : 0;
    config.output.colorspace = MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = {rows, crop.width * kChannels, bytes};
    const VP8StatusCode status = WebPDecode(data(), stored_.size(), &config);
    if (status != VP8_STATUS_OK) give_up(status);
  }

  DecodeOptions options_;
  std::span<const std::byte> stored_;
  ImageHeader header_;
  PixelBuffer buffer_;
};

}  // namespace

std::unique_ptr<Decoder> make_webp_decoder(const DecodeOptions& options) {
  return std::make_unique<WebpDecoder>(options);
}

}  // namespace loaderscope
