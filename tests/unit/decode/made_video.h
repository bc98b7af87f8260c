// Frames of videos as their source hands them out.
#pragma once

#include <cstring>

#include "base/image_formats.h"
#include "unit/decode/made_images.h"

namespace loaderscope::made {

// A key frame of one packet.
inline ByteVector video_frame(std::uint32_t codec, std::uint32_t width, std::uint32_t height,
                              const ByteVector& packet) {
  VideoFrameHeader header;
  header.codec = codec;
  header.width = width;
  header.height = height;
  header.packets = 1;
  VideoPacketHeader packet_header;
  packet_header.bytes = static_cast<std::uint32_t>(packet.size());
  packet_header.flags = 1;  // a key frame
  ByteVector stored(sizeof header + sizeof packet_header);
  std::memcpy(stored.data(), &header, sizeof header);
  std::memcpy(stored.data() + sizeof header, &packet_header, sizeof packet_header);
  stored.insert(stored.end(), packet.begin(), packet.end());
  return stored;
}

}  // namespace loaderscope::made
