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
  VideoPacketHeader of_packet;
  of_packet.bytes = static_cast<std::uint32_t>(packet.size());
  of_packet.flags = 1;  // a key frame
  ByteVector stored(sizeof header + sizeof of_packet);
  std::memcpy(stored.data(), &header, sizeof header);
  std::memcpy(stored.data() + sizeof header, &of_packet, sizeof of_packet);
  stored.insert(stored.end(), packet.begin(), packet.end());
  return stored;
}

}  // namespace loaderscope::made
