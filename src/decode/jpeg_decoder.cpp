// JPEG by libjpeg-turbo: only the rows and columns that are needed.
#include <algorithm>
#include <optional>

#include "decode/decoders.h"
#include "decode/jpeg_codec.h"
#include "decode/jpeg_parts.h"
#include "decode/limits.h"

namespace loaderscope {
namespace {

// A Huffman code has at least one bit for each block of 8 x 8.
constexpr std::int64_t kMaxJpegPixelsPerByte = std::int64_t{8} * 64;

int rounded_up(int value, int divisor) { return (value + divisor - 1) / divisor; }

Region scaled(const Region& region, int denominator) {
  const int x = region.x / denominator;
  const int y = region.y / denominator;
  return {x, y, rounded_up(region.x + region.width, denominator) - x,
          rounded_up(region.y + region.height, denominator) - y};
}

// Converts inks as Pillow does: Adobe stores them inverted, and no other program writes CMYK JPEG.
// Works in place from left to right, because pixels only become shorter.
void inks_to_rgb(std::uint8_t* row, std::size_t pixels) {
  const std::uint8_t* from = row;
  for (std::size_t i = 0; i < pixels; ++i, from += 4) {
    const unsigned black = from[3];
    for (std::size_t c = 0; c < kChannels; ++c) {
      const unsigned product = (255U - from[c]) * black + 128U;
      row[i * kChannels + c] = static_cast<std::uint8_t>(black - ((product + (product >> 8)) >> 8));
    }
  }
}

class JpegDecoder final : public Decoder {
 public:
  explicit JpegDecoder(const DecodeOptions& options) : options_(options) {}

  ImageHeader open(std::span<const std::byte> stored) override {
    codec_.emplace();
    stored_ = {reinterpret_cast<const unsigned char*>(stored.data()), stored.size()};
    if (!codec_->read_header(stored_.data(), stored_.size())) give_up();
    const jpeg_decompress_struct& read = codec_->header();
    header_ = {static_cast<int>(read.image_width), static_cast<int>(read.image_height)};
    check_size(header_, options_);
    if (!read.arith_code) check_stored_size(header_, stored.size(), kMaxJpegPixelsPerByte);
    return header_;
  }

  Pixels decode(const Region& region) override {
    check_region(region, header_);
    const int denominator = scale_for(region);
    const JpegParts::Part part = part_for(region, denominator);
    const Region within{region.x - part.x, region.y - part.y, region.width, region.height};
    Region wanted = scaled(within, denominator);
    if (!codec_->start({denominator, options_.fast_upsampling, wanted})) give_up();

    const std::size_t stride = std::size_t{codec_->columns()} * codec_->bytes_per_pixel();
    const auto height = static_cast<std::size_t>(wanted.height);
    std::uint8_t* rows = buffer_.take(stride * height);
    if (!codec_->read_rows(rows, stride)) give_up();
    if (codec_->bytes_per_pixel() == 4) {
      for (std::size_t y = 0; y < height; ++y) inks_to_rgb(rows + y * stride, codec_->columns());
    }
    const std::size_t margin = static_cast<unsigned>(wanted.x) - codec_->first_column();
    codec_.reset();
    wanted.x += part.x / denominator;
    wanted.y += part.y / denominator;
    return {rows + margin * kChannels, stride, wanted, denominator};
  }

 private:
  int scale_for(const Region& region) const {
    if (!options_.dct_scale_auto || options_.wanted <= 0) return 1;
    const int side = std::min(region.width, region.height);
    if (side / 4 >= options_.wanted) return 4;
    return side / 2 >= options_.wanted ? 2 : 1;
  }

  // Returns the data to decode for the region: all of the image, or a part that its restart markers
  // allow.
  JpegParts::Part part_for(const Region& region, int denominator) {
    const std::size_t begin = stored_.size() - codec_->left();
    const auto part =
        parts_.part(stored_, codec_->header(), begin, region, kJpegMargin * denominator);
    if (!part) return {0, 0, stored_};
    codec_.emplace();
    if (!codec_->read_header(part->stored.data(), part->stored.size())) give_up();
    return *part;
  }

  [[noreturn]] void give_up() {
    const SampleError error(codec_->failure().kind, codec_->failure().text);
    codec_.reset();
    throw error;
  }

  DecodeOptions options_;
  std::optional<JpegCodec> codec_;  // set from open to the end of decode
  std::span<const unsigned char> stored_;
  ImageHeader header_;
  JpegParts parts_;
  PixelBuffer buffer_;
};

}  // namespace

std::unique_ptr<Decoder> make_jpeg_decoder(const DecodeOptions& options) {
  return std::make_unique<JpegDecoder>(options);
}

}  // namespace loaderscope
