// JPEG images for tests, and libjpeg's own decode of them as the reference.
#pragma once

#include <cstdio>

#include <jpeglib.h>

#include "unit/decode/made_images.h"

namespace loaderscope::made {

struct JpegWish {
  int horizontal = 2, vertical = 2;  // sampling of the first component
  int quality = 90;
  bool progressive = false;
  bool arithmetic = false;
  int restart_rows = 0;
  int restart_interval = 0;  // MCUs between markers; 0: no markers
  J_COLOR_SPACE stored_as = JCS_YCbCr;
  int scans = 0;  // number of scans of a progressive image; 0: all
  bool scan_per_colour = false;
  bool two_scans = false;  // a grey image gets a scan of its means, then one of the rest
};

inline J_COLOR_SPACE choose_color_space(int channels) {
  return channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
}

inline ByteVector encode_jpeg(const Image& image, const JpegWish& wish = {}) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &buffer, &size);
  jpeg.image_width = static_cast<JDIMENSION>(image.width);
  jpeg.image_height = static_cast<JDIMENSION>(image.height);
  jpeg.input_components = image.channels;
  jpeg.in_color_space = choose_color_space(image.channels);
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, image.channels == 1 ? JCS_GRAYSCALE : wish.stored_as);
  jpeg_set_quality(&jpeg, wish.quality, TRUE);
  jpeg.comp_info[0].h_samp_factor = wish.horizontal;
  jpeg.comp_info[0].v_samp_factor = wish.vertical;
  if (wish.progressive) jpeg_simple_progression(&jpeg);
  static const jpeg_scan_info kTwoScans[] = {{1, {0, 0, 0, 0}, 0, 0, 0, 0},
                                             {1, {0, 0, 0, 0}, 1, 63, 0, 0}};
  static const jpeg_scan_info kScanPerColour[] = {{1, {0, 0, 0, 0}, 0, 63, 0, 0},
                                                  {1, {1, 0, 0, 0}, 0, 63, 0, 0},
                                                  {1, {2, 0, 0, 0}, 0, 63, 0, 0}};
  if (wish.scan_per_colour) {
    jpeg.scan_info = kScanPerColour;
    jpeg.num_scans = 3;
  }
  if (wish.two_scans) {
    jpeg.scan_info = kTwoScans;
    jpeg.num_scans = 2;
  }
  if (wish.scans > 0) jpeg.num_scans = wish.scans;
  jpeg.arith_code = wish.arithmetic ? TRUE : FALSE;
  jpeg.restart_in_rows = wish.restart_rows;
  jpeg.restart_interval = static_cast<unsigned>(wish.restart_interval);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = const_cast<JSAMPROW>(image.row(static_cast<int>(jpeg.next_scanline)));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  ByteVector stored = as_bytes(buffer, size);
  std::free(buffer);
  return stored;
}

// The whole image, row by row, without any of what the decoder under test leaves out.
inline Image decode_whole_jpeg(const ByteVector& stored, bool fast = false, int denominator = 1) {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(stored.data()), stored.size());
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = jpeg.num_components == 4 ? JCS_CMYK : JCS_RGB;
  jpeg.do_fancy_upsampling = fast ? FALSE : TRUE;
  jpeg.scale_denom = static_cast<unsigned>(denominator);
  jpeg_start_decompress(&jpeg);
  Image image{static_cast<int>(jpeg.output_width),
              static_cast<int>(jpeg.output_height),
              jpeg.output_components,
              {}};
  image.data.resize(image.stride() * jpeg.output_height);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = image.row(static_cast<int>(jpeg.output_scanline));
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  jpeg_destroy_decompress(&jpeg);
  return image;
}

}  // namespace loaderscope::made
