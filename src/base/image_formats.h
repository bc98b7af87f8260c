// The names and first bytes of the formats of images. image_formats.def has their rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace loaderscope {

enum class ImageKind : std::uint8_t {
#define LOADERSCOPE_IMAGE_FORMAT(name, ...) name,
#include "base/image_formats.def"
#undef LOADERSCOPE_IMAGE_FORMAT
  unknown
};

struct ImageFormat {
  struct Magic {
    std::size_t offset = 0;
    std::string_view bytes = {};
  };
  std::string_view name;
  std::array<std::string_view, 2> suffixes;  // in small letters, the usual one first; else ""
  std::array<Magic, 2> magic;

  // Returns whether `stored` begins with all magic bytes of the format.
  bool begins(std::span<const std::byte> stored) const;
  // Returns whether `stored` ends within the magic bytes, and all bytes before its end agree.
  bool is_cut_magic(std::span<const std::byte> stored) const;
  std::size_t magic_end() const;
};

std::span<const ImageFormat> image_formats();     // in the order of ImageKind, without `unknown`
const ImageFormat& image_format(ImageKind kind);  // not `unknown`
std::size_t longest_image_magic();                // bytes
// Detects the kind from the first bytes.
ImageKind image_kind_of(std::span<const std::byte> stored);

// Returns whether the name has a suffix of images, in small or capital letters.
bool is_image_name(std::string_view name);
std::string image_suffixes();  // ".jpg, .jpeg or .png", for messages

}  // namespace loaderscope
