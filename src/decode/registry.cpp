#include "base/has_ffmpeg.h"
#include "base/image_formats.h"
#include "built_with.h"
#include "decode/decoders.h"

namespace loaderscope {
namespace {

template <ImageKind kind>
bool recognises(std::span<const std::byte> stored) {
  return image_format(kind).begins(stored);
}

}  // namespace

std::span<const DecoderRow> decoder_table() {
  static constexpr DecoderRow kTable[] = {
#define LOADERSCOPE_IMAGE_FORMAT(name, help, library, unavailable, suffixes, magic) \
  {{#name, help, unavailable},                                                      \
   recognises<ImageKind::name>,                                                     \
   if_built(library, make_##name##_decoder)},
#include "base/image_formats.def"
#undef LOADERSCOPE_IMAGE_FORMAT
  };
  return kTable;
}

}  // namespace loaderscope
