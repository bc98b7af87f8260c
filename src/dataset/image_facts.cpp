#include "dataset/image_facts.h"

#include <algorithm>
#include <cstring>

#include "base/image_formats.h"
#include "loaderscope/decode.h"

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
  constexpr std::int64_t kMaxSide = std::int64_t{1} << 20;
  if (std::max(width, height) > kMaxSide) facts.damage = "its header asks for an impossible size";
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

// Returns the facts of a frame from the header before its packets.
ImageFacts video_facts(Stored bytes) {
  VideoFrameHeader header;
  if (bytes.size() < sizeof header) return cut_off(Kind::video);
  std::memcpy(&header, bytes.data(), sizeof header);
  return sized(Kind::video, header.width, header.height);
}

ImageFacts raw_facts(Stored bytes) {
  if (bytes.size() < kRawHeader) return cut_off(Kind::raw);
  return sized(Kind::raw, little_endian(bytes, 8, 4), little_endian(bytes, 12, 4));
}

// Asks the decoder, for a format that has no function here.
ImageFacts decoder_facts(Kind kind, Stored bytes) {
  try {
    const ImageHeader header = make_any_decoder({})->open(bytes);
    return sized(kind, header.width, header.height);
  } catch (const SampleError& error) {
    if (error.kind == SampleError::Kind::truncated) return cut_off(kind);
    return damaged(kind, "its header cannot be read");
  }
}

}  // namespace

ImageFacts image_facts(Stored begin) {
  const Kind kind = image_kind_of(begin);
  switch (kind) {
    case Kind::jpeg:
      return jpeg_facts(begin);
    case Kind::png:
      return png_facts(begin);
    case Kind::webp:
      return webp_facts(begin);
    case Kind::raw:
      return raw_facts(begin);
    case Kind::video:
      return video_facts(begin);
    case Kind::unknown:
      return {};
    default:
      return decoder_facts(kind, begin);
  }
}

}  // namespace loaderscope::dataset
