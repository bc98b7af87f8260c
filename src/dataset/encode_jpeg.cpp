#include <jpeglib.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "dataset/encode.h"
#include "dataset/options.h"
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

// JPEG to JPEG: coefficients are copied as they are.

namespace {

struct Escape {
  jpeg_error_mgr base;  // first: libjpeg knows only this
  std::jmp_buf way_out;
};

[[noreturn]] void escape(j_common_ptr common) {
  std::longjmp(reinterpret_cast<Escape*>(common->err)->way_out, 1);
}

// Gives up on a damaged image: a new encoding would hide the damage.
void escape_from_warning(j_common_ptr common, int level) {
  if (level < 0) escape(common);
}

void drop_message(j_common_ptr) {}

// MCUs between two markers: few, so that little is decoded around a crop, and dividing a row, so
// that every row begins with one. A marker takes four to five bytes, which tables of the image's
// own win back.
unsigned interval_for(unsigned across) {
  for (const unsigned interval : {2U, 3U, 5U}) {
    if (across % interval == 0) return interval;
  }
  return 1;
}

unsigned mcus_across(const jpeg_decompress_struct& from) {
  const auto width =
      static_cast<unsigned>(8 * (from.num_components == 1 ? 1 : from.max_h_samp_factor));
  return (from.image_width + width - 1) / width;
}

// All coefficients are held in memory. A Huffman code has at least one bit for each block of 8 x 8.
bool is_too_large(const jpeg_decompress_struct& from, std::size_t stored) {
  constexpr double kMaxPixelsPerByte = 8 * 64;
  const double pixels = static_cast<double>(from.image_width) * from.image_height;
  return pixels > kMaxPixels || pixels > kMaxPixelsPerByte * static_cast<double>(stored);
}

void keep_metadata(jpeg_decompress_struct& from) {
  constexpr unsigned kMaxLength = 0xffff;
  jpeg_save_markers(&from, JPEG_COM, kMaxLength);
  for (int i = 0; i < 16; ++i) jpeg_save_markers(&from, JPEG_APP0 + i, kMaxLength);
}

// libjpeg writes JFIF's and Adobe's itself.
bool is_written_anyway(const jpeg_compress_struct& to, const jpeg_marker_struct& marker) {
  return (to.write_JFIF_header && marker.marker == JPEG_APP0) ||
         (to.write_Adobe_marker && marker.marker == JPEG_APP0 + 14);
}

// Only plain data lives here: longjmp runs no destructors. `buffer` is malloc's, also after a
// failure.
bool transcode(std::span<const std::byte> stored, unsigned char** buffer, unsigned long* size) {
  Escape errors{};
  jpeg_decompress_struct from{};
  jpeg_compress_struct to{};
  from.err = to.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = escape;
  errors.base.emit_message = escape_from_warning;
  errors.base.output_message = drop_message;
  if (setjmp(errors.way_out) != 0) {
    jpeg_destroy_compress(&to);
    jpeg_destroy_decompress(&from);
    return false;
  }
  jpeg_create_decompress(&from);
  jpeg_create_compress(&to);
  jpeg_mem_src(&from, reinterpret_cast<const unsigned char*>(stored.data()), stored.size());
  jpeg_mem_dest(&to, buffer, size);
  keep_metadata(from);
  jpeg_read_header(&from, TRUE);
  if (is_too_large(from, stored.size())) escape(reinterpret_cast<j_common_ptr>(&from));
  jvirt_barray_ptr* coefficients = jpeg_read_coefficients(&from);
  jpeg_copy_critical_parameters(&from, &to);
  to.optimize_coding = TRUE;
  to.restart_interval = interval_for(mcus_across(from));
  jpeg_write_coefficients(&to, coefficients);
  for (jpeg_saved_marker_ptr marker = from.marker_list; marker != nullptr; marker = marker->next) {
    if (!is_written_anyway(to, *marker))
      jpeg_write_marker(&to, marker->marker, marker->data, marker->data_length);
  }
  jpeg_finish_compress(&to);
  jpeg_destroy_compress(&to);
  jpeg_destroy_decompress(&from);
  return true;
}

}  // namespace

bool add_restarts_to_jpeg(std::span<const std::byte> stored, std::vector<std::byte>& out) {
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  const bool done = transcode(stored, &buffer, &size);
  const std::unique_ptr<unsigned char, void (*)(void*)> owner(buffer, std::free);
  if (!done) return false;
  const auto* bytes = reinterpret_cast<const std::byte*>(buffer);
  out.assign(bytes, bytes + size);
  return true;
}

}  // namespace loaderscope::dataset
