// How pages of Parquet files and buffers of Arrow files may be packed.
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

// Of one reader.
class PageUnpacker {
 public:
  virtual ~PageUnpacker() = default;
  // Fills `to`, which has the size that the page should have. Throws SampleError.
  virtual void unpack(std::span<const std::byte> page, std::span<std::byte> to) = 0;
};

struct PageCodec {
  std::int64_t number;  // in the file
  std::string_view name;
  std::unique_ptr<PageUnpacker> (*make)();   // null: as it is stored, or not read here
  const OptionalLibrary* library = nullptr;  // that `make` needs; null: no library reads it here
};

std::unique_ptr<PageUnpacker> make_lz4_page_unpacker();
std::unique_ptr<PageUnpacker> make_snappy_page_unpacker();
// Throws SampleError.
[[noreturn]] void fail_as_damaged(std::string_view codec);

inline constexpr std::int64_t kStoredAsIs = 0;
// Throws ValueError, as it continues "PATH: ", for what is not read here.
const PageCodec& page_codec(std::int64_t number);
const PageCodec& page_codec_called(std::string_view name);  // of one that is in the table
// Likewise of Arrow's, which has other numbers and nothing that is stored as it is.
const PageCodec& arrow_codec(std::int64_t number);

}  // namespace loaderscope::source
