// Of a JPEG whose restart markers part its rows: what a region needs, as an image of its own.
// Nothing outside it is decoded, nor taken apart into symbols.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "decode/jpeg_codec.h"

namespace loaderscope {

class JpegParts {
 public:
  struct Part {
    int x = 0, y = 0;                       // of its first pixel, in the image: whole MCUs
    std::span<const unsigned char> stored;  // valid until the next call
  };

  // `header` was read from `stored`, up to `scan_begin`. The pixels of `region` are those of the
  // whole image, with `margin` around it that upsampling looks at. Nothing where it gains nothing:
  // without markers, or with all of the image wanted; and where markers are not as they should be.
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
  // Of the first segments of the scan: where they begin, and the end of the last of them.
  std::vector<std::size_t> begins_;
};

}  // namespace loaderscope
