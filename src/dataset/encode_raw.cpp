#include "dataset/encode.h"

namespace loaderscope::dataset {

void encode_raw(const RgbImage& image, const LossySettings&, std::vector<std::byte>& out) {
  put_raw_image(static_cast<std::uint32_t>(image.width), static_cast<std::uint32_t>(image.height),
                3, std::as_bytes(std::span(image.rgb)), out);
}

}  // namespace loaderscope::dataset
