// Images that are not coded: "LSRAW1\0\0", width and height as little-endian 32-bit numbers, then
// rows of 8-bit RGB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace loaderscope {

inline constexpr std::array<char, 8> kRawMagic = {'L', 'S', 'R', 'A', 'W', '1', '\0', '\0'};
inline constexpr std::size_t kRawHeader = 16;

// Replaces `out` by the image of width x height pixels of 3 channels, or of 1, which is grey.
void put_raw_image(std::uint32_t width, std::uint32_t height, std::size_t channels,
                   std::span<const std::byte> pixels, std::vector<std::byte>& out);

}  // namespace loaderscope
