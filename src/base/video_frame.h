// A stored frame of a video: the packets from the previous key frame on, in decoding order. The
// layout is a header, the setup of the codec, and the packets, each after its own header. All
// values have the byte order of this machine, as the data never leaves the program.
#pragma once

#include <array>
#include <cstdint>

namespace loaderscope {

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
