// Codecs of pages of Parquet files and of buffers of Arrow files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/optional_library.h"

namespace loaderscope::source {

// Unpacker of one reader.
class PageUnpacker {
 public:
  virtual ~PageUnpacker() = default;
  // Fills `to`, which has the declared size of the page. Throws SampleError.
  virtual void unpack(std::span<const std::byte> page, std::span<std::byte> to) = 0;
};

struct PageCodec {
  std::int64_t number;  // number in the file
  std::string_view name;
  std::unique_ptr<PageUnpacker> (*make)();  // null: stored as is, or not supported here
  // library that `make` needs; null: no library supports it
  const OptionalLibrary* library = nullptr;
};

std::unique_ptr<PageUnpacker> make_lz4_page_unpacker();
std::unique_ptr<PageUnpacker> make_snappy_page_unpacker();
// Throws SampleError.
[[noreturn]] void fail_as_damaged(std::string_view codec);

inline constexpr std::int64_t kStoredAsIs = 0;
// Throws ValueError, which continues "PATH: ", for codecs that are not supported here.
const PageCodec& page_codec(std::int64_t number);
const PageCodec& page_codec_called(std::string_view name);  // requires a name in the table
// Returns a codec of Arrow, which has other numbers and no number for stored as is. Throws
// ValueError like page_codec().
const PageCodec& arrow_codec(std::int64_t number);

}  // namespace loaderscope::source
