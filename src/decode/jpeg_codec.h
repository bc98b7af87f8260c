// libjpeg's decompressor, isolated: its longjmp never leaves jpeg_codec.cpp.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <jpeglib.h>

#include "loaderscope/decode.h"
#include "loaderscope/errors.h"

namespace loaderscope {

// Reason why the last step failed.
struct JpegFailure {
  SampleError::Kind kind = SampleError::Kind::damaged;
  char text[JMSG_LENGTH_MAX + 100] = "";  // continues a sentence, as SampleError's
};

struct JpegJob {
  int scale_denominator = 1;
  bool fast_upsampling = false;
  Region wanted;  // pixels of the scaled image
};

// Fancy upsampling looks one chroma sample to each side.
inline constexpr int kJpegMargin = 2;

// One image: read_header, start, read_rows. Each step says false when it failed; then `failure`
// says why, and the object is of no further use. Making one costs a tenth of a microsecond, and a
// fresh one cannot take over the tables of the image before, so there is one per image.
//
// Nothing here owns memory but libjpeg: longjmp runs no destructors.
class JpegCodec {
 public:
  JpegCodec() noexcept;
  ~JpegCodec();
  JpegCodec(const JpegCodec&) = delete;
  JpegCodec& operator=(const JpegCodec&) = delete;

  bool read_header(const unsigned char* data, std::size_t size) noexcept;
  const jpeg_decompress_struct& header() const { return codec_; }
  std::size_t left() const { return source_.bytes_in_buffer; }  // unread bytes of the data

  bool start(const JpegJob& job) noexcept;
  // After start: the columns that come out, which cover job.wanted and are right within it.
  unsigned first_column() const { return first_column_; }
  unsigned columns() const { return codec_.output_width; }
  unsigned bytes_per_pixel() const { return static_cast<unsigned>(codec_.output_components); }

  // The rows of job.wanted, to job.wanted.height rows of `stride` bytes.
  bool read_rows(std::uint8_t* rows, std::size_t stride) noexcept;

  const JpegFailure& failure() const { return failure_; }

 private:
  enum class Phase : std::uint8_t { header, scans, rows };

  bool guarded(void (*step)(JpegCodec& self)) noexcept;
  void start_now();
  void choose_columns();
  void read_rows_now();
  [[noreturn]] void fail(SampleError::Kind kind);
  [[noreturn]] void fail_truncated();
  [[noreturn]] void fail_too_many_scans();
  void describe_place(char* text, std::size_t size) const;

  static JpegCodec& self(j_common_ptr common);
  static JpegCodec& self(j_decompress_ptr codec);
  static void on_error(j_common_ptr common);
  static void on_message(j_common_ptr common, int level);
  static boolean on_end_of_data(j_decompress_ptr codec);
  static void on_skip(j_decompress_ptr codec, long bytes);
  static void on_progress(j_common_ptr common);

  jpeg_decompress_struct codec_{};
  jpeg_error_mgr errors_{};
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf way_out_;
  JpegFailure failure_;
  JpegJob job_;
  Phase phase_ = Phase::header;
  bool data_ended_ = false;
  bool created_ = false;
  unsigned first_column_ = 0;
  std::uint8_t* rows_ = nullptr;
  std::size_t stride_ = 0;
};

}  // namespace loaderscope
