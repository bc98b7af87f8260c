#include <spng.h>

#include <memory>
#include <string>

#include "dataset/encode.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

void demand(int code) {
  if (code != 0) throw RunError(std::string("PNG encoder: ") + spng_strerror(code));
}

int append(spng_ctx*, void* out, void* source, std::size_t length) {
  const auto* bytes = static_cast<const std::byte*>(source);
  try {
    auto& stored = *static_cast<std::vector<std::byte>*>(out);
    stored.insert(stored.end(), bytes, bytes + length);
  } catch (const std::exception&) {
    return SPNG_IO_ERROR;
  }
  return 0;
}

}  // namespace

void encode_png(const RgbImage& image, const LossySettings&, std::vector<std::byte>& out) {
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> png(spng_ctx_new(SPNG_CTX_ENCODER),
                                                           spng_ctx_free);
  if (!png) throw RunError("PNG encoder: no memory");
  out.clear();
  demand(spng_set_png_stream(png.get(), append, &out));
  spng_ihdr header{};
  header.width = static_cast<std::uint32_t>(image.width);
  header.height = static_cast<std::uint32_t>(image.height);
  header.bit_depth = 8;
  header.color_type = SPNG_COLOR_TYPE_TRUECOLOR;
  demand(spng_set_ihdr(png.get(), &header));
  demand(spng_encode_image(png.get(), image.rgb.data(), image.rgb.size(), SPNG_FMT_PNG,
                           SPNG_ENCODE_FINALIZE));
}

}  // namespace loaderscope::dataset
