#include "dataset/image_facts.h"

#include <algorithm>
#include <cstring>

#include "base/video_frame.h"
#include "dataset/encode.h"

namespace loaderscope::dataset {
namespace {

using Stored = std::span<const std::byte>;

bool has(Stored bytes, std::size_t at, std::string_view text) {
  return bytes.size() >= at + text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

std::int64_t little_endian(Stored bytes, std::size_t at, std::size_t count) {
  std::int64_t value = 0;
  for (std::size_t i = count; i-- > 0;)
    value = value << 8 | std::to_integer<std::int64_t>(bytes[at + i]);
  return value;
}

std::int64_t big_endian(Stored bytes, std::size_t at) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | std::to_integer<std::int64_t>(bytes[at + i]);
  return value;
}

ImageFacts sized(Kind kind, std::int64_t width, std::int64_t height) {
  ImageFacts facts;
  facts.kind = kind;
  facts.width = width;
  facts.height = height;
  if (width == 0 || height == 0) facts.damage = "its header says that it has no pixels";
  constexpr std::int64_t kLongestSide = std::int64_t{1} << 20;
  if (std::max(width, height) > kLongestSide)
    facts.damage = "its header asks for an impossible size";
  return facts;
}

ImageFacts cut_off(Kind kind) {
  ImageFacts facts;
  facts.kind = kind;
  facts.more_needed = true;
  return facts;
}

ImageFacts damaged(Kind kind, std::string_view damage) {
  ImageFacts facts;
  facts.kind = kind;
  facts.damage = damage;
  return facts;
}

ImageFacts png_facts(Stored bytes) {
  if (bytes.size() < 24) return cut_off(Kind::png);
  if (!has(bytes, 12, "IHDR")) return damaged(Kind::png, "its first chunk is not IHDR");
  return sized(Kind::png, big_endian(bytes, 16), big_endian(bytes, 20));
}

ImageFacts webp_facts(Stored bytes) {
  if (bytes.size() < 30) return cut_off(Kind::webp);
  if (has(bytes, 12, "VP8X")) {
    return sized(Kind::webp, little_endian(bytes, 24, 3) + 1, little_endian(bytes, 27, 3) + 1);
  }
  if (has(bytes, 12, "VP8L")) {
    const std::int64_t bits = little_endian(bytes, 21, 4);
    return sized(Kind::webp, (bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1);
  }
  if (has(bytes, 12, "VP8 ")) {
    return sized(Kind::webp, little_endian(bytes, 26, 2) & 0x3fff,
                 little_endian(bytes, 28, 2) & 0x3fff);
  }
  return damaged(Kind::webp, "its first chunk is none of WebP's");
}

// Of a frame: the header in front of its packets.
ImageFacts video_facts(Stored bytes) {
  VideoFrameHeader header;
  if (bytes.size() < sizeof header) return cut_off(Kind::video);
  std::memcpy(&header, bytes.data(), sizeof header);
  return sized(Kind::video, header.width, header.height);
}

}  // namespace

ImageFacts image_facts(Stored begin) {
  if (has(begin, 0, "\xff\xd8\xff")) return jpeg_facts(begin);
  if (has(begin, 0, "\x89PNG\r\n\x1a\n")) return png_facts(begin);
  if (has(begin, 0, "RIFF") && has(begin, 8, "WEBP")) return webp_facts(begin);
  if (has(begin, 0, std::string_view(kRawMagic.data(), kRawMagic.size()))) {
    if (begin.size() < kRawHeader) return cut_off(Kind::raw);
    return sized(Kind::raw, little_endian(begin, 8, 4), little_endian(begin, 12, 4));
  }
  if (has(begin, 0, std::string_view(kVideoFrameMagic.data(), kVideoFrameMagic.size())))
    return video_facts(begin);
  return {};
}

}  // namespace loaderscope::dataset
