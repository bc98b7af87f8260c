#include "dataset/image_facts.h"

#include <algorithm>
#include <array>
#include <cstring>

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
  const Kind kind = detect_image_kind(begin);
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

namespace {

unsigned byte_at(std::span<const std::byte> bytes, std::size_t i) {
  return std::to_integer<unsigned>(bytes[i]);
}
unsigned word_at(std::span<const std::byte> bytes, std::size_t i) {
  return byte_at(bytes, i) << 8 | byte_at(bytes, i + 1);
}

constexpr unsigned kBaseline = 0xc0, kStartOfScan = 0xda, kEndOfImage = 0xd9, kQuantization = 0xdb;

bool is_frame(unsigned marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}
bool is_progressive(unsigned marker) {
  return marker == 0xc2 || marker == 0xc6 || marker == 0xca || marker == 0xce;
}
bool is_standalone(unsigned marker) { return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8); }

// From the sampling factors: the first component's, when all others are 1x1.
std::string_view subsampling_name(std::span<const std::byte> components) {
  const std::size_t count = components.size() / 3;
  if (count == 1) return "grey";
  if (count == 4) return "cmyk";
  if (count != 3) return "other";
  if (byte_at(components, 4) != byte_at(components, 7)) return "other";
  const unsigned first = byte_at(components, 1), rest = byte_at(components, 4);
  if (first == rest) return "444";
  if (rest != 0x11) return "other";
  switch (first) {
    case 0x22:
      return "420";
    case 0x21:
      return "422";
    case 0x12:
      return "440";
    case 0x41:
      return "411";
    default:
      return "other";
  }
}

// Parses a frame header without its length.
void read_frame(std::span<const std::byte> frame, ImageFacts& facts) {
  if (frame.size() < 6 || frame.size() != 6 + 3 * std::size_t{byte_at(frame, 5)}) {
    facts.damage = "its frame header has a wrong length";
    return;
  }
  facts.components = static_cast<int>(byte_at(frame, 5));
  if (byte_at(frame, 0) != 8) facts.baseline = false;
  facts.height = word_at(frame, 1);
  facts.width = word_at(frame, 3);
  facts.subsampling = subsampling_name(frame.subspan(6));
  if (facts.width == 0 || facts.height == 0) facts.damage = "its header says that it has no pixels";
}

// Luminance table of annex K of the standard, which libjpeg scales by a quality.
constexpr std::array<int, 64> kBrightness = {
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};

int sum_of_table(int quality) {
  const int scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  int sum = 0;
  for (const int value : kBrightness) sum += std::clamp((value * scale + 50) / 100, 1, 255);
  return sum;
}

// The quality whose table is nearest; other programs have tables of their own.
int estimate_quality(int sum) {
  int quality = 1;
  while (quality < 100 && sum_of_table(quality) + sum_of_table(quality + 1) > 2 * sum) ++quality;
  return quality;
}

// Parses the first table of a segment without its length, which is the luminance table.
void read_tables(std::span<const std::byte> tables, ImageFacts& facts) {
  while (!tables.empty()) {
    const std::size_t bytes = byte_at(tables, 0) >= 0x10 ? 2 : 1;
    if (tables.size() < 1 + 64 * bytes) return;
    if ((byte_at(tables, 0) & 15U) == 0) {
      int sum = 0;
      for (std::size_t i = 0; i < 64; ++i)
        sum += static_cast<int>(bytes == 2 ? word_at(tables, 1 + 2 * i) : byte_at(tables, 1 + i));
      facts.quality = estimate_quality(sum);
    }
    tables = tables.subspan(1 + 64 * bytes);
  }
}

}  // namespace

ImageFacts jpeg_facts(std::span<const std::byte> begin) {
  ImageFacts facts;
  facts.kind = Kind::jpeg;
  std::size_t at = 2;
  while (facts.damage.empty()) {
    while (at < begin.size() && byte_at(begin, at) != 0xff) ++at;  // skips garbage, as libjpeg does
    while (at < begin.size() && byte_at(begin, at) == 0xff) ++at;
    if (at >= begin.size()) break;
    const unsigned marker = byte_at(begin, at++);
    if (marker == 0 || is_standalone(marker)) continue;
    if (marker == kStartOfScan) {
      if (at + 2 >= begin.size()) break;
      facts.header_bytes = static_cast<std::int64_t>(at);
      facts.components_of_scan = static_cast<int>(byte_at(begin, at + 2));
      if (facts.width == 0) facts.damage = "its pixels come before its frame header";
      return facts;
    }
    if (marker == kEndOfImage) {
      facts.damage = "it ends before its pixels";
      return facts;
    }
    if (at + 2 > begin.size()) break;
    const std::size_t length = word_at(begin, at);
    if (length < 2) {
      facts.damage = "one of its segments has a wrong length";
      return facts;
    }
    if (is_frame(marker)) {
      if (at + length > begin.size()) break;
      facts.progressive = is_progressive(marker);
      facts.baseline = marker == kBaseline;
      read_frame(begin.subspan(at + 2, length - 2), facts);
    }
    if (marker == kQuantization) {
      if (at + length > begin.size()) break;
      read_tables(begin.subspan(at + 2, length - 2), facts);
    }
    at += length;
  }
  facts.more_needed = facts.damage.empty();
  return facts;
}

bool has_jpeg_end(std::span<const std::byte> bytes) {
  for (std::size_t i = bytes.size(); i-- > 1;) {
    if (bytes[i - 1] == std::byte{0xff} && bytes[i] == std::byte{kEndOfImage}) return true;
  }
  return false;
}

}  // namespace loaderscope::dataset
