#include <zstd.h>

#include <stdexcept>

#include "unit/source/packed_bytes.h"

namespace loaderscope::source {

std::string pack_by_zstd(std::string_view text, int window_log) {
  ZSTD_CCtx* context = ::ZSTD_createCCtx();
  ::ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  if (window_log > 0) ::ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  std::string packed(::ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_inBuffer input{text.data(), text.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  // If the end of the text is unknown, zstd uses the window that was asked for.
  if (window_log > 0) ::ZSTD_compressStream2(context, &out, &input, ZSTD_e_continue);
  const std::size_t left = ::ZSTD_compressStream2(context, &out, &input, ZSTD_e_end);
  ::ZSTD_freeCCtx(context);
  if (left != 0) throw std::runtime_error("ZSTD_compressStream2");
  packed.resize(out.pos);
  return packed;
}

}  // namespace loaderscope::source
