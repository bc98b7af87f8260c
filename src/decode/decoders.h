// make_NAME_decoder() for each format of images, for the registry. Decoders of absent libraries are
// not linked.
#pragma once

#include <memory>

#include "loaderscope/decode.h"

namespace loaderscope {

#define LOADERSCOPE_IMAGE_FORMAT(name, ...) \
  std::unique_ptr<Decoder> make_##name##_decoder(const DecodeOptions& options);
#include "base/image_formats.def"
#undef LOADERSCOPE_IMAGE_FORMAT

}  // namespace loaderscope
