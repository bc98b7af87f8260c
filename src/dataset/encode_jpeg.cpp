#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <jpeglib.h>

#include "dataset/encode.h"
#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

struct ErrorManager {
  jpeg_error_mgr base;  // first: libjpeg knows only this
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave(j_common_ptr common) {
  auto* errors = reinterpret_cast<ErrorManager*>(common->err);
  (*common->err->format_message)(common, errors->message);
  std::longjmp(errors->escape, 1);
}

void say_nothing(j_common_ptr) {}

void set_sampling(jpeg_compress_struct& jpeg, Subsampling subsampling) {
  if (subsampling == Subsampling::grey) {
    jpeg_set_colorspace(&jpeg, JCS_GRAYSCALE);
    return;
  }
  jpeg.comp_info[0].h_samp_factor = subsampling == Subsampling::s444 ? 1 : 2;
  jpeg.comp_info[0].v_samp_factor = subsampling == Subsampling::s420 ? 2 : 1;
}

void write_rows(jpeg_compress_struct& jpeg, const RgbImage& image) {
  while (jpeg.next_scanline < jpeg.image_height) {
    // libjpeg's rows are not const, yet it only reads them.
    JSAMPROW row = const_cast<JSAMPROW>(image.row(static_cast<int>(jpeg.next_scanline)));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
}

// Only plain data lives here: longjmp runs no destructors. `buffer` is malloc's, also after a
// failure.
bool compress(const RgbImage& image, const LossySettings& settings, ErrorManager& errors,
              unsigned char** buffer, unsigned long* size) {
  jpeg_compress_struct jpeg{};
  jpeg.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = leave;
  errors.base.output_message = say_nothing;
  if (setjmp(errors.escape) != 0) {
    jpeg_destroy_compress(&jpeg);
    return false;
  }
  jpeg_create_compress(&jpeg);
  jpeg_mem_dest(&jpeg, buffer, size);
  jpeg.image_width = static_cast<JDIMENSION>(image.width);
  jpeg.image_height = static_cast<JDIMENSION>(image.height);
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, settings.quality, TRUE);
  set_sampling(jpeg, settings.subsampling);
  if (settings.progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  write_rows(jpeg, image);
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  return true;
}

}  // namespace

void encode_jpeg(const RgbImage& image, const LossySettings& settings,
                 std::vector<std::byte>& out) {
  ErrorManager errors{};
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  const bool done = compress(image, settings, errors, &buffer, &size);
  const std::unique_ptr<unsigned char, void (*)(void*)> owner(buffer, std::free);
  if (!done) throw RunError(std::string("JPEG encoder: ") + errors.message);
  const auto* bytes = reinterpret_cast<const std::byte*>(buffer);
  out.assign(bytes, bytes + size);
}

}  // namespace loaderscope::dataset
