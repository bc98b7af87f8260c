// JPEG by libjpeg-turbo: only the rows and columns that are needed.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "decode/decoders.h"
#include "decode/jpeg_codec.h"

namespace loaderscope {
namespace {

// Parts of a JPEG whose restart markers divide its rows. The part for a region becomes an image of
// its own. The data outside of it is neither decoded nor parsed into symbols.
class JpegParts {
 public:
  struct Part {
    int x = 0, y = 0;                       // position of its first pixel in the image: whole MCUs
    std::span<const unsigned char> stored;  // valid until the next call
  };

  // `header` was read from `stored`, up to `scan_begin`. The pixels of `region` equal those of the
  // whole image; upsampling reads `margin` pixels around it. Returns nothing if a part saves
  // nothing: without markers, or if the whole image is wanted. Also returns nothing for unexpected
  // markers.
  std::optional<Part> part(std::span<const unsigned char> stored,
                           const jpeg_decompress_struct& header, std::size_t scan_begin,
                           const Region& region, int margin);

 private:
  struct Grid;
  struct Range;
  bool find_segments(std::span<const unsigned char> scan, std::size_t last);
  bool put_header(std::span<const unsigned char> header, int width, int height);
  void put_segments(std::span<const unsigned char> scan, const Grid& grid, const Range& range);

  std::vector<unsigned char> made_;
  // Begins of the first segments of the scan, and the end of the last of them.
  std::vector<std::size_t> begins_;
};

using Stored = std::span<const unsigned char>;

constexpr int kBlock = 8;
constexpr unsigned kFirstRestart = 0xD0, kRestarts = 8;

int count_pieces(int length, int each) { return (length + each - 1) / each; }

bool is_restart(unsigned marker) {
  return marker >= kFirstRestart && marker < kFirstRestart + kRestarts;
}

// Pictures within pictures, profiles, comments: of no use to a decoder.
bool is_metadata(unsigned marker) {
  return (marker > 0xE0 && marker < 0xEE) || marker == 0xEF || marker == 0xFE;
}

// Baseline or extended, whose first component has at most twice the samples of the others.
bool can_be_split(const jpeg_decompress_struct& header) {
  const bool is_grey = header.num_components == 1;
  return header.restart_interval > 0 && !header.progressive_mode && !header.arith_code &&
         header.comps_in_scan == header.num_components && header.max_h_samp_factor <= 2 &&
         header.max_v_samp_factor <= 2 &&
         (!is_grey || (header.max_h_samp_factor == 1 && header.max_v_samp_factor == 1));
}

// The segments between two markers, as they lie in the image.
struct JpegParts::Grid {
  int width, height;  // pixels of a segment
  int columns, rows;  // segments
  int image_width, image_height;

  // Returns nothing if the markers do not divide the rows evenly.
  static std::optional<Grid> find(const jpeg_decompress_struct& header) {
    const int mcu_width = kBlock * header.max_h_samp_factor;
    const int mcu_height = kBlock * header.max_v_samp_factor;
    const int image_width = static_cast<int>(header.image_width);
    const int image_height = static_cast<int>(header.image_height);
    const int across = count_pieces(image_width, mcu_width);
    const int interval = static_cast<int>(header.restart_interval);
    if (across % interval == 0) {
      return Grid{interval * mcu_width, mcu_height,
                  across / interval,    count_pieces(image_height, mcu_height),
                  image_width,          image_height};
    }
    if (interval % across != 0) return std::nullopt;
    const int height = interval / across * mcu_height;
    return Grid{across * mcu_width, height,      1, count_pieces(image_height, height),
                image_width,        image_height};
  }
};

// Range of segments, including the last ones.
struct JpegParts::Range {
  int left, right, top, bottom;

  Range(const Grid& grid, const Region& region, int margin)
      : left(std::max(0, region.x - margin) / grid.width),
        right(std::min((region.x + region.width - 1 + margin) / grid.width, grid.columns - 1)),
        top(std::max(0, region.y - margin) / grid.height),
        bottom(std::min((region.y + region.height - 1 + margin) / grid.height, grid.rows - 1)) {}

  // Rows below are not decoded anyway.
  bool is_worth_it(const Grid& grid) const {
    const double needed = static_cast<double>(right - left + 1) * (bottom - top + 1);
    return needed < 0.9 * grid.columns * (bottom + 1);
  }
};

std::optional<JpegParts::Part> JpegParts::part(Stored stored, const jpeg_decompress_struct& header,
                                               std::size_t scan_begin, const Region& region,
                                               int margin) {
  if (!can_be_split(header)) return std::nullopt;
  const std::optional<Grid> grid = Grid::find(header);
  if (!grid) return std::nullopt;
  const Range range(*grid, region, margin);
  if (!range.is_worth_it(*grid)) return std::nullopt;
  const Stored scan = stored.subspan(scan_begin);
  const auto last =
      static_cast<std::size_t>(range.bottom) * static_cast<std::size_t>(grid->columns) +
      static_cast<std::size_t>(range.right);
  if (!find_segments(scan, last)) return std::nullopt;
  Part part;
  part.x = range.left * grid->width;
  part.y = range.top * grid->height;
  const int width = std::min((range.right + 1) * grid->width, grid->image_width) - part.x;
  const int height = std::min((range.bottom + 1) * grid->height, grid->image_height) - part.y;
  if (!put_header(stored.first(scan_begin), width, height)) return std::nullopt;
  put_segments(scan, *grid, range);
  part.stored = made_;
  return part;
}

// Up to segment `last`; false where there are fewer, or markers are not in their order.
bool JpegParts::find_segments(Stored scan, std::size_t last) {
  begins_.assign(1, 0);
  std::size_t at = 0;
  while (begins_.size() < last + 2) {
    if (at + 2 > scan.size()) return false;
    const void* found = std::memchr(scan.data() + at, 0xFF, scan.size() - 1 - at);
    if (found == nullptr) return false;
    at = static_cast<std::size_t>(static_cast<const unsigned char*>(found) - scan.data());
    const unsigned marker = scan[at + 1];
    at += marker == 0xFF ? 1 : 2;
    if (marker == 0 || marker == 0xFF) continue;
    const bool in_order = marker == kFirstRestart + (begins_.size() - 1) % kRestarts;
    if (!in_order && (is_restart(marker) || begins_.size() < last + 1)) return false;
    begins_.push_back(at);  // for the last segment, its end
  }
  return true;
}

// The tables and the frame, with the size of the part. False where it is not as libjpeg writes it.
bool JpegParts::put_header(Stored header, int width, int height) {
  made_.assign(header.begin(), header.begin() + 2);
  std::size_t at = 2;
  while (at + 4 <= header.size()) {
    const unsigned marker = header[at + 1];
    const std::size_t length = 2 + (std::size_t{header[at + 2]} << 8 | header[at + 3]);
    if (header[at] != 0xFF || marker == 0xFF || at + length > header.size()) return false;
    const Stored segment = header.subspan(at, length);
    at += length;
    if (is_metadata(marker)) continue;
    made_.insert(made_.end(), segment.begin(), segment.end());
    const bool is_frame = marker == 0xC0 || marker == 0xC1;
    if (!is_frame) continue;
    if (length < 9) return false;
    unsigned char* sides = made_.data() + made_.size() - length + 5;
    sides[0] = static_cast<unsigned char>(height >> 8);
    sides[1] = static_cast<unsigned char>(height);
    sides[2] = static_cast<unsigned char>(width >> 8);
    sides[3] = static_cast<unsigned char>(width);
  }
  return at == header.size();
}

// Writes the segments, and numbers their markers again.
void JpegParts::put_segments(Stored scan, const Grid& grid, const Range& range) {
  unsigned count = 0;
  for (int row = range.top; row <= range.bottom; ++row) {
    for (int column = range.left; column <= range.right; ++column) {
      const auto segment = static_cast<std::size_t>(row) * static_cast<std::size_t>(grid.columns) +
                           static_cast<std::size_t>(column);
      const std::size_t begin = begins_[segment], end = begins_[segment + 1] - 2;
      const Stored bytes = scan.subspan(begin, end - begin);
      made_.insert(made_.end(), bytes.begin(), bytes.end());
      made_.push_back(0xFF);
      made_.push_back(static_cast<unsigned char>(kFirstRestart + count++ % kRestarts));
    }
  }
  made_.back() = JPEG_EOI;
}

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
