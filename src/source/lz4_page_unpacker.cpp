#include <lz4.h>

#include "source/page_codec.h"

namespace loaderscope::source {
namespace {

class Lz4PageUnpacker final : public PageUnpacker {
 public:
  void unpack(std::span<const std::byte> page, std::span<std::byte> to) override {
    const int given = ::LZ4_decompress_safe(
        reinterpret_cast<const char*>(page.data()), reinterpret_cast<char*>(to.data()),
        static_cast<int>(page.size()), static_cast<int>(to.size()));
    if (given != std::ssize(to)) fail_as_damaged("LZ4");
  }
};

}  // namespace

std::unique_ptr<PageUnpacker> make_lz4_page_unpacker() {
  return std::make_unique<Lz4PageUnpacker>();
}

}  // namespace loaderscope::source
