#include <webp/encode.h>

#include <memory>
#include <string>

#include "dataset/encode.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {

void encode_webp(const RgbImage& image, const LossySettings& settings,
                 std::vector<std::byte>& out) {
  std::uint8_t* bytes = nullptr;
  const std::size_t size =
      WebPEncodeRGB(image.rgb.data(), image.width, image.height, static_cast<int>(image.stride()),
                    static_cast<float>(settings.quality), &bytes);
  const std::unique_ptr<std::uint8_t, void (*)(void*)> owner(bytes, WebPFree);
  if (size == 0) {
    throw RunError("WebP encoder: refused " + std::to_string(image.width) + "x" +
                       std::to_string(image.height) + " pixels",
                   "give sides of at most 16383");
  }
  const auto* begin = reinterpret_cast<const std::byte*>(bytes);
  out.assign(begin, begin + size);
}

}  // namespace loaderscope::dataset
