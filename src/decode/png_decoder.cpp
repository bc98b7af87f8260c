// PNG by libspng.
#include <string>

#include <spng.h>

#include "decode/decoders.h"

namespace loaderscope {
namespace {

using Kind = SampleError::Kind;

// Deflate makes at most 1032 bytes of one, and a pixel may be one bit.
constexpr std::int64_t kMaxPngPixelsPerByte = std::int64_t{1032} * 8;
// Limit of one chunk, and of all that libspng keeps. Texts and colour profiles are stored
// compressed.
constexpr std::size_t kMaxChunkBytes = std::size_t{16} << 20;

Kind kind_of_png_error(int code) {
  switch (code) {
    case SPNG_IO_EOF:
    case SPNG_EOF:
    case SPNG_EIO:
    case SPNG_EIDAT_TOO_SHORT:
      return Kind::truncated;
    case SPNG_EMEM:
    case SPNG_EOVERFLOW:
    case SPNG_EUSER_WIDTH:
    case SPNG_EUSER_HEIGHT:
    case SPNG_ECHUNK_LIMITS:
      return Kind::too_large;
    case SPNG_ECHUNK_UNKNOWN_CRITICAL:
      return Kind::unsupported;
    default:
      return Kind::damaged;
  }
}

struct FreeContext {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};

class PngDecoder final : public Decoder {
 public:
  explicit PngDecoder(const DecodeOptions& options) : options_(options) {}

  ImageHeader open(std::span<const std::byte> stored) override {
    if (stored.empty()) throw SampleError(Kind::truncated, "it is empty");
    context_.reset(spng_ctx_new(0));
    if (!context_) throw SampleError(Kind::too_large, "there is no memory to decode it");
    check(spng_set_chunk_limits(context_.get(), kMaxChunkBytes, kMaxChunkBytes));
    check(spng_set_png_buffer(context_.get(), stored.data(), stored.size()));
    spng_ihdr read{};
    check(spng_get_ihdr(context_.get(), &read));
    header_ = {static_cast<int>(read.width), static_cast<int>(read.height)};
    interlaced_ = read.interlace_method != SPNG_INTERLACE_NONE;
    check_size(header_, options_);
    check_stored_size(header_, stored.size(), kMaxPngPixelsPerByte);
    return header_;
  }

  Pixels decode(const Region& region) override {
    check_region(region, header_);
    const std::size_t stride = static_cast<std::size_t>(header_.width) * kChannels;
    const std::uint8_t* first_row =
        interlaced_ ? decode_all(stride) + offset(region.y, stride) : decode_rows(region, stride);
    context_.reset();
    return {first_row + offset(region.x, kChannels), stride, region};
  }

 private:
  static std::size_t offset(int count, std::size_t bytes) {
    return static_cast<std::size_t>(count) * bytes;
  }

  // All rows down to the last wanted one, as each is made from the one above. Those above the
  // wanted ones are written where the first wanted one goes.
  const std::uint8_t* decode_rows(const Region& region, std::size_t stride) {
    check(spng_decode_image(context_.get(), nullptr, 0, SPNG_FMT_RGB8, SPNG_DECODE_PROGRESSIVE));
    std::uint8_t* rows = buffer_.take(stride * static_cast<std::size_t>(region.height));
    const int end = region.y + region.height;
    for (row_ = 0; row_ < end; ++row_) {
      std::uint8_t* place = rows + offset(row_ > region.y ? row_ - region.y : 0, stride);
      const int code = spng_decode_row(context_.get(), place, stride);
      if (code != SPNG_EOI) check(code);
    }
    if (end == header_.height) check_rest();
    row_ = 0;
    return rows;
  }

  // Checks the rest. The checksum of pixels comes after them, so it is often unknown for a part of
  // an image.
  void check_rest() { check(spng_decode_chunks(context_.get())); }

  const std::uint8_t* decode_all(std::size_t stride) {
    const std::size_t bytes = stride * static_cast<std::size_t>(header_.height);
    std::uint8_t* rows = buffer_.take(bytes);
    check(spng_decode_image(context_.get(), rows, bytes, SPNG_FMT_RGB8, 0));
    check_rest();
    return rows;
  }

  void check(int code) {
    if (code == 0) return;
    context_.reset();
    const Kind kind = kind_of_png_error(code);
    std::string text =
        kind == Kind::truncated ? "its PNG data end early" : "its PNG data are wrong";
    if (row_ > 0)
      text += (kind == Kind::truncated ? ", near row " : " near row ") + std::to_string(row_) +
              " of " + std::to_string(header_.height);
    row_ = 0;
    throw SampleError(kind, text + " (libspng: " + spng_strerror(code) + ")");
  }

  DecodeOptions options_;
  std::unique_ptr<spng_ctx, FreeContext> context_;  // set from open to the end of decode
  ImageHeader header_;
  bool interlaced_ = false;
  int row_ = 0;  // the row that is being decoded
  PixelBuffer buffer_;
};

}  // namespace

std::unique_ptr<Decoder> make_png_decoder(const DecodeOptions& options) {
  return std::make_unique<PngDecoder>(options);
}

}  // namespace loaderscope
