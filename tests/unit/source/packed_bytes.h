// Compressed bytes, as the programs of the table of compressions write them.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#ifdef LOADERSCOPE_WITH_LZ4
#include <lz4frame.h>
#endif
#ifdef LOADERSCOPE_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef LOADERSCOPE_WITH_ZSTD
#include <zstd.h>
#endif

namespace loaderscope::source {

struct Packing {
  std::string_view row;     // of the table
  std::string_view ending;  // of a shard's name
  std::string (*pack)(std::string_view text);
};

#ifdef LOADERSCOPE_WITH_ZLIB
inline std::string gzip_bytes(std::string_view text) {
  z_stream stream{};
  if (::deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string packed(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("deflate");
  return packed;
}
#endif

#ifdef LOADERSCOPE_WITH_ZSTD
// With the checksum that zstd(1) adds. Window of 2^`window_log` bytes; 0: the level's own.
inline std::string zstd_bytes_of(std::string_view text, int window_log) {
  ZSTD_CCtx* context = ::ZSTD_createCCtx();
  ::ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  if (window_log > 0) ::ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  std::string packed(::ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  // Of a text whose end is not known the window is as it was asked for.
  if (window_log > 0) ::ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue);
  const std::size_t left = ::ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
  ::ZSTD_freeCCtx(context);
  if (left != 0) throw std::runtime_error("ZSTD_compressStream2");
  packed.resize(out.pos);
  return packed;
}
inline std::string zstd_bytes(std::string_view text) { return zstd_bytes_of(text, 0); }
#endif

#ifdef LOADERSCOPE_WITH_LZ4
// With the checksum that lz4(1) adds.
inline std::string lz4_bytes(std::string_view text) {
  LZ4F_preferences_t as_lz4{};
  as_lz4.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  std::string packed(::LZ4F_compressFrameBound(text.size(), &as_lz4), '\0');
  const std::size_t size =
      ::LZ4F_compressFrame(packed.data(), packed.size(), text.data(), text.size(), &as_lz4);
  if (::LZ4F_isError(size) != 0) throw std::runtime_error("LZ4F_compressFrame");
  packed.resize(size);
  return packed;
}
#endif

// Of those that this program was built with.
inline const std::vector<Packing>& packings() {
  static const std::vector<Packing> all = {
#ifdef LOADERSCOPE_WITH_ZLIB
      {"gzip", ".tar.gz", gzip_bytes},
#endif
#ifdef LOADERSCOPE_WITH_LZ4
      {"lz4", ".tar.lz4", lz4_bytes},
#endif
#ifdef LOADERSCOPE_WITH_ZSTD
      {"zstd", ".tar.zst", zstd_bytes},
#endif
  };
  return all;
}

}  // namespace loaderscope::source
