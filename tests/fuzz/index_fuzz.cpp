// The parser of index files: whatever the bytes, nothing outside of them is read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "source/index.h"

namespace {

using loaderscope::source::Index;

void look_at_all(std::unique_ptr<std::byte[]> bytes, std::size_t size) {
  const auto index = Index::parse(std::move(bytes), size);
  if (!index) return;
  std::string name;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(index->folders(), 1000); ++i)
    index->folder(i);
  for (std::int64_t i = 0; i < std::min<std::int64_t>(index->samples(), 1000); ++i) {
    index->folder(index->file(i, name));
    index->label(i);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const bool sealed : {false, true}) {
    auto bytes = std::make_unique<std::byte[]>(size);
    if (size > 0) std::memcpy(bytes.get(), data, size);
    // A wrong checksum would reject nearly every input before the parser reads it.
    if (sealed) Index::seal(std::span(bytes.get(), size));
    look_at_all(std::move(bytes), size);
  }
  return 0;
}
