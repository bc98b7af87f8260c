#include "decode/jpeg_codec.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <jerror.h>

namespace loaderscope {
namespace {

using Kind = SampleError::Kind;

// A real progressive image has about ten; each scan is a pass over all coefficients, and takes as
// long as a whole baseline image.
constexpr int kMaxScans = 64;

// The end of the data, for a decoder that must not wait for more.
constexpr std::array<JOCTET, 2> kEndOfImage = {0xFF, JPEG_EOI};

Kind kind_of_jpeg_error(int code) {
  switch (code) {
    case JERR_IMAGE_TOO_BIG:
    case JERR_OUT_OF_MEMORY:
    case JERR_WIDTH_OVERFLOW:
      return Kind::too_large;
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
      return Kind::unsupported;
    default:
      return Kind::damaged;
  }
}

// Returns true for warnings that do not concern the pixels. After all others, libjpeg continues
// with invented pixels.
bool is_harmless(const jpeg_error_mgr& warning, bool is_header) {
  switch (warning.msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_ICC:
    case JWRN_JFIF_MAJOR:
    case JWRN_TOO_MUCH_DATA:
      return true;
    case JWRN_EXTRANEOUS_DATA:  // garbage in a scan: earlier codes were wrong; cameras pad the end
                                // of the image
      return is_header || warning.msg_parm.i[1] == JPEG_EOI;
    default:
      return false;
  }
}

// Block smoothing makes up coefficients that no scan brought, from blocks further away than our
// margin.
bool smooths_blocks(const jpeg_decompress_struct& codec) {
  if (codec.coef_bits == nullptr) return false;
  for (int component = 0; component < codec.num_components; ++component) {
    const int* bits = codec.coef_bits[component];
    if (std::any_of(bits + 1, bits + 10, [](int missing) { return missing != 0; })) return true;
  }
  return false;
}

// libjpeg-turbo before 3.0 miscalculates the chroma width then, and reads memory that it did not
// write.
bool cannot_crop(const jpeg_decompress_struct& codec) {
  return codec.scale_denom > 1 && (codec.max_h_samp_factor > 2 || codec.max_v_samp_factor > 2);
}

bool begins_segment(unsigned marker) {
  return marker == 0xC4 || marker == 0xCC || marker == 0xDB || marker == 0xDD ||
         (marker >= 0xE0 && marker <= 0xEF) || marker == 0xFE;
}

// Counts the scans by their markers, before any is decoded. `data` begins within the first scan. In
// a scan, 0xFF comes only before a zero or a marker. Tables are between two scans.
int count_scans(const JOCTET* data, std::size_t size) {
  const JOCTET* const end = data + size;
  int scans = 1;
  while (end - data > 3) {
    const void* found = std::memchr(data, 0xFF, static_cast<std::size_t>(end - data - 3));
    if (found == nullptr) break;
    data = static_cast<const JOCTET*>(found) + 1;
    if (*data == 0xDA) ++scans;
    if (begins_segment(*data))
      data += std::min<std::ptrdiff_t>(1 + (data[1] << 8 | data[2]), end - data);
  }
  return scans;
}

void do_nothing(j_decompress_ptr) {}
void say_nothing(j_common_ptr) {}

}  // namespace

JpegCodec::JpegCodec() noexcept {
  codec_.err = jpeg_std_error(&errors_);
  codec_.client_data = this;
  errors_.error_exit = on_error;
  errors_.emit_message = on_message;
  errors_.output_message = say_nothing;
  source_.init_source = do_nothing;
  source_.fill_input_buffer = on_end_of_data;
  source_.skip_input_data = on_skip;
  source_.resync_to_restart = jpeg_resync_to_restart;
  source_.term_source = do_nothing;
  progress_.progress_monitor = on_progress;
}

JpegCodec::~JpegCodec() {
  if (created_) jpeg_destroy_decompress(&codec_);
}

JpegCodec& JpegCodec::self(j_common_ptr common) {
  return *static_cast<JpegCodec*>(common->client_data);
}
JpegCodec& JpegCodec::self(j_decompress_ptr codec) {
  return *static_cast<JpegCodec*>(codec->client_data);
}

// The one setjmp. The steps below it and the functions that libjpeg calls back hold plain data
// only.
bool JpegCodec::guarded(void (*step)(JpegCodec& self)) noexcept {
  if (setjmp(way_out_) != 0) return false;
  step(*this);
  return true;
}

bool JpegCodec::read_header(const unsigned char* data, std::size_t size) noexcept {
  source_.next_input_byte = data;
  source_.bytes_in_buffer = size;
  return guarded([](JpegCodec& self) {
    self.created_ = true;
    jpeg_create_decompress(&self.codec_);
    self.codec_.src = &self.source_;
    self.codec_.progress = &self.progress_;
    jpeg_read_header(&self.codec_, TRUE);
  });
}

bool JpegCodec::start(const JpegJob& job) noexcept {
  job_ = job;
  return guarded([](JpegCodec& self) { self.start_now(); });
}

void JpegCodec::start_now() {
  phase_ = Phase::scans;
  codec_.scale_num = 1;
  codec_.scale_denom = static_cast<unsigned>(job_.scale_denominator);
  codec_.do_fancy_upsampling = job_.fast_upsampling ? FALSE : TRUE;
  codec_.dct_method = JDCT_ISLOW;  // the exact one; with SIMD the fast one gains little
  const bool inks = codec_.jpeg_color_space == JCS_CMYK || codec_.jpeg_color_space == JCS_YCCK;
  codec_.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  if (jpeg_has_multiple_scans(&codec_) &&
      count_scans(source_.next_input_byte, source_.bytes_in_buffer) > kMaxScans)
    fail_too_many_scans();
  jpeg_start_decompress(&codec_);  // reads all scans of an image with several
  if (data_ended_ && jpeg_has_multiple_scans(&codec_)) fail_truncated();
  phase_ = Phase::rows;
  if (!smooths_blocks(codec_) && !cannot_crop(codec_)) choose_columns();
}

void JpegCodec::choose_columns() {
  const int image_width = static_cast<int>(codec_.output_width);
  const Region& wanted = job_.wanted;
  const int right = std::min(wanted.x + wanted.width + kJpegMargin, image_width);
  const int left = std::max(0, wanted.x - kJpegMargin);
  auto first = static_cast<JDIMENSION>(left);
  auto width = static_cast<JDIMENSION>(right - left);
  jpeg_crop_scanline(&codec_, &first, &width);  // moves `first` to the left, to whole iMCUs
  first_column_ = first;
}

bool JpegCodec::read_rows(std::uint8_t* rows, std::size_t stride) noexcept {
  rows_ = rows;
  stride_ = stride;
  return guarded([](JpegCodec& self) { self.read_rows_now(); });
}

void JpegCodec::read_rows_now() {
  const auto first = static_cast<JDIMENSION>(job_.wanted.y);
  const JDIMENSION end = first + static_cast<JDIMENSION>(job_.wanted.height);
  if (first > 0) jpeg_skip_scanlines(&codec_, first);
  while (codec_.output_scanline < end) {
    std::array<JSAMPROW, 16> rows;
    const JDIMENSION count =
        std::min(end - codec_.output_scanline, static_cast<JDIMENSION>(rows.size()));
    for (JDIMENSION i = 0; i < count; ++i) {
      rows[i] = rows_ + (codec_.output_scanline - first + i) * stride_;
    }
    jpeg_read_scanlines(&codec_, rows.data(), count);
  }
  // A Huffman decoder warns where bits are missing; an arithmetic one takes zeros for them in
  // silence.
  if (data_ended_ && codec_.arith_code) fail_truncated();
}

void JpegCodec::describe_place(char* text, std::size_t size) const {
  switch (phase_) {
    case Phase::header:
      std::snprintf(text, size, "in the header");
      break;
    case Phase::scans:
      std::snprintf(text, size, "in scan %d", codec_.input_scan_number);
      break;
    case Phase::rows:
      std::snprintf(text, size, "near row %u of %u", codec_.output_scanline * codec_.scale_denom,
                    codec_.image_height);
      break;
  }
}

void JpegCodec::fail(Kind kind) {
  char message[JMSG_LENGTH_MAX];
  char place[48];
  (*errors_.format_message)(reinterpret_cast<j_common_ptr>(&codec_), message);
  describe_place(place, sizeof place);
  failure_.kind = kind;
  std::snprintf(failure_.text, sizeof failure_.text, "its JPEG data are wrong %s (libjpeg: %s)",
                place, message);
  std::longjmp(way_out_, 1);
}

void JpegCodec::fail_truncated() {
  char place[48];
  describe_place(place, sizeof place);
  failure_.kind = Kind::truncated;
  std::snprintf(failure_.text, sizeof failure_.text, "its JPEG data end early, %s", place);
  std::longjmp(way_out_, 1);
}

void JpegCodec::on_error(j_common_ptr common) {
  JpegCodec& codec = self(common);
  if (codec.data_ended_) codec.fail_truncated();  // within a table, say
  codec.fail(kind_of_jpeg_error(common->err->msg_code));
}

void JpegCodec::on_message(j_common_ptr common, int level) {
  JpegCodec& codec = self(common);
  if (level >= 0 || is_harmless(*common->err, codec.phase_ == Phase::header)) return;
  // Data that stop at the end-of-image marker were cut off by somebody who added one.
  const bool stopped =
      common->err->msg_code == JWRN_HIT_MARKER && codec.codec_.unread_marker == JPEG_EOI;
  if (codec.data_ended_ || stopped) codec.fail_truncated();
  codec.fail(Kind::damaged);
}

boolean JpegCodec::on_end_of_data(j_decompress_ptr codec) {
  JpegCodec& own = self(codec);
  if (own.phase_ == Phase::header) own.fail_truncated();
  // Not yet an error: a decoder looks ahead of the bits that it needs.
  own.data_ended_ = true;
  own.source_.next_input_byte = kEndOfImage.data();
  own.source_.bytes_in_buffer = kEndOfImage.size();
  return TRUE;
}

void JpegCodec::on_skip(j_decompress_ptr codec, long bytes) {
  if (bytes <= 0) return;
  jpeg_source_mgr& source = self(codec).source_;
  if (static_cast<std::size_t>(bytes) > source.bytes_in_buffer) {
    on_end_of_data(codec);
    return;
  }
  source.next_input_byte += bytes;
  source.bytes_in_buffer -= static_cast<std::size_t>(bytes);
}

// Scans that hide from those who count them.
void JpegCodec::on_progress(j_common_ptr common) {
  JpegCodec& codec = self(common);
  if (codec.codec_.input_scan_number > kMaxScans) codec.fail_too_many_scans();
}

void JpegCodec::fail_too_many_scans() {
  failure_.kind = Kind::unsupported;
  std::snprintf(failure_.text, sizeof failure_.text,
                "it has more than %d scans, which only a hostile image has", kMaxScans);
  std::longjmp(way_out_, 1);
}

}  // namespace loaderscope
