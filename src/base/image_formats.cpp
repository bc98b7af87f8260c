#include "base/image_formats.h"

#include <algorithm>
#include <cstring>

namespace loaderscope {
namespace {

#define LOADERSCOPE_SUFFIXES(...) \
  { __VA_ARGS__ }
#define LOADERSCOPE_PARTS(...) \
  {                            \
    { __VA_ARGS__ }            \
  }
#define LOADERSCOPE_IMAGE_FORMAT(name, help, library, unavailable, suffixes, magic) \
  {#name, LOADERSCOPE_SUFFIXES suffixes, LOADERSCOPE_PARTS magic},
constexpr ImageFormat kFormats[] = {
#include "base/image_formats.def"
};
#undef LOADERSCOPE_IMAGE_FORMAT

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view text_view(std::span<const std::byte> stored) {
  return {reinterpret_cast<const char*>(stored.data()), stored.size()};
}

// Compares as many bytes as `stored` has.
bool agrees(const ImageFormat::Magic& part, std::span<const std::byte> stored) {
  if (stored.size() <= part.offset) return true;
  const std::string_view found = text_view(stored).substr(part.offset, part.bytes.size());
  return part.bytes.starts_with(found);
}

bool agrees_with_all(const ImageFormat& format, std::span<const std::byte> stored) {
  return std::all_of(format.magic.begin(), format.magic.end(),
                     [&](const ImageFormat::Magic& part) { return agrees(part, stored); });
}

}  // namespace

std::size_t ImageFormat::magic_end() const {
  std::size_t end = 0;
  for (const Magic& part : magic) end = std::max(end, part.offset + part.bytes.size());
  return end;
}

bool ImageFormat::begins(std::span<const std::byte> stored) const {
  return stored.size() >= magic_end() && agrees_with_all(*this, stored);
}

bool ImageFormat::is_cut_magic(std::span<const std::byte> stored) const {
  return stored.size() > magic.front().offset && stored.size() < magic_end() &&
         agrees_with_all(*this, stored);
}

std::span<const ImageFormat> image_formats() { return kFormats; }

const ImageFormat& image_format(ImageKind kind) { return kFormats[static_cast<std::size_t>(kind)]; }

std::size_t longest_image_magic() {
  std::size_t longest = 0;
  for (const ImageFormat& format : kFormats) longest = std::max(longest, format.magic_end());
  return longest;
}

ImageKind detect_image_kind(std::span<const std::byte> stored) {
  std::size_t kind = 0;
  while (kind < std::size(kFormats) && !kFormats[kind].begins(stored)) ++kind;
  return static_cast<ImageKind>(kind);
}

bool is_image_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  const std::string_view suffix = name.substr(dot);
  for (const ImageFormat& format : kFormats) {
    for (const std::string_view known : format.suffixes) {
      if (std::equal(known.begin(), known.end(), suffix.begin(), suffix.end(),
                     [](char a, char b) { return a == to_lower(b); }))
        return true;
    }
  }
  return false;
}

std::string image_suffixes() {
  std::vector<std::string_view> all;
  for (const ImageFormat& format : kFormats) {
    for (const std::string_view suffix : format.suffixes) {
      if (!suffix.empty()) all.push_back(suffix);
    }
  }
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) text += i + 1 == all.size() ? " or " : ", ";
    text += all[i];
  }
  return text;
}

namespace {

void put_little_endian(std::byte* out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace

void put_raw_image(std::uint32_t width, std::uint32_t height, std::size_t channels,
                   std::span<const std::byte> pixels, std::vector<std::byte>& out) {
  out.resize(kRawHeader + pixels.size() / channels * 3);
  std::memcpy(out.data(), kRawMagic.data(), kRawMagic.size());
  put_little_endian(out.data() + 8, width);
  put_little_endian(out.data() + 12, height);
  std::byte* to = out.data() + kRawHeader;
  if (channels == 3) {
    std::memcpy(to, pixels.data(), pixels.size());
    return;
  }
  for (const std::byte grey : pixels) {
    for (int i = 0; i < 3; ++i) *to++ = grey;
  }
}

}  // namespace loaderscope
