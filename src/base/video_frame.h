// A frame of a video as it is stored: the packets from the key frame before it on, in the order in
// which they are decoded. A header, what the codec is set up with, then packets, each behind its
// own header; all in the order of bytes of this machine, for it never leaves the program.
#pragma once

#include <array>
#include <cstdint>

namespace loaderscope {

inline constexpr std::array<char, 8> kVideoFrameMagic = {'L', 'S', 'V', 'I', 'D', '1', '\0', '\0'};

struct VideoFrameHeader {
  std::array<char, 8> magic = kVideoFrameMagic;
  std::int64_t video = 0;         // whose packets these are; no other's has the number
  std::int64_t first_packet = 0;  // the number that the first one has in it
  std::int64_t time = 0;          // of the frame: the `pts` of its packet
  std::uint32_t codec = 0;        // AVCodecID
  std::uint32_t width = 0, height = 0;
  std::uint32_t delay = 0;  // packets that the codec has had before it gives the first frame
  std::uint32_t setup_bytes = 0;
  std::uint32_t packets = 0;
};

struct VideoPacketHeader {
  std::int64_t pts = 0, dts = 0;
  std::uint32_t bytes = 0;
  std::int32_t flags = 0;
};

}  // namespace loaderscope
