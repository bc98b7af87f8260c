// The names and first bytes of the formats of images, from image_formats.def; images that are not
// coded; and frames of videos.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
ImageKind detect_image_kind(std::span<const std::byte> stored);

// Returns whether the name has a suffix of images, in small or capital letters.
bool is_image_name(std::string_view name);
std::string image_suffixes();  // ".jpg, .jpeg or .png", for messages

// Images that are not coded: "LSRAW1\0\0", width and height as little-endian 32-bit numbers, then
// rows of 8-bit RGB.
inline constexpr std::array<char, 8> kRawMagic = {'L', 'S', 'R', 'A', 'W', '1', '\0', '\0'};
inline constexpr std::size_t kRawHeader = 16;

// Replaces `out` by the image of width x height pixels of 3 channels, or of 1, which is grey.
void put_raw_image(std::uint32_t width, std::uint32_t height, std::size_t channels,
                   std::span<const std::byte> pixels, std::vector<std::byte>& out);

// A stored frame of a video: the packets from the previous key frame on, in decoding order. The
// layout is a header, the setup of the codec, and the packets, each after its own header. All
// values have the byte order of this machine, as the data never leaves the program.
inline constexpr std::array<char, 8> kVideoFrameMagic = {'L', 'S', 'V', 'I', 'D', '1', '\0', '\0'};

struct VideoFrameHeader {
  std::array<char, 8> magic = kVideoFrameMagic;
  std::int64_t video = 0;         // number of the video of these packets, unique
  std::int64_t first_packet = 0;  // number of the first packet in its video
  std::int64_t time = 0;          // `pts` of the frame's packet
  std::uint32_t codec = 0;        // AVCodecID
  std::uint32_t width = 0, height = 0;
  std::uint32_t delay = 0;  // packets before the first frame of the codec
  std::uint32_t setup_bytes = 0;
  std::uint32_t packets = 0;
};

struct VideoPacketHeader {
  std::int64_t pts = 0, dts = 0;
  std::uint32_t bytes = 0;
  std::int32_t flags = 0;
};

}  // namespace loaderscope
