// Facts from the first bytes of an image file, without decoding. The bytes are untrusted: every
// length is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/image_formats.h"

namespace loaderscope::dataset {

using Kind = ImageKind;

struct ImageFacts {
  Kind kind = Kind::unknown;
  std::int64_t width = 0, height = 0;
  std::string_view subsampling;  // JPEG only: "420" "422" "444" "440" "411" "grey" "cmyk" "other"
  bool progressive = false;      // JPEG only
  bool baseline = false;         // JPEG only: 8 bits, Huffman codes, not progressive
  int components = 0;            // JPEG only: colours of the image
  int components_of_scan = 0;    // JPEG only: colours of the first scan
  int quality = 0;           // JPEG only: libjpeg's quality, estimated from the tables; 0: unknown
  std::string_view damage;   // description of the damage, or ""
  bool more_needed = false;  // the bytes end before the facts do
  std::int64_t header_bytes = 0;  // JPEG only: offset of the first scan
};

// `begin`: the first bytes of a file, all of it or some.
ImageFacts image_facts(std::span<const std::byte> begin);

// The JPEG part of it.
ImageFacts jpeg_facts(std::span<const std::byte> begin);

// Returns true if `bytes` contain an end-of-image marker.
bool has_jpeg_end(std::span<const std::byte> bytes);

}  // namespace loaderscope::dataset
