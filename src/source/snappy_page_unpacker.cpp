#include <snappy-c.h>

#include "source/page_codec.h"

namespace loaderscope::source {
namespace {

class SnappyPageUnpacker final : public PageUnpacker {
 public:
  void unpack(std::span<const std::byte> page, std::span<std::byte> to) override {
    const char* from = reinterpret_cast<const char*>(page.data());
    std::size_t size = 0;
    if (::snappy_uncompressed_length(from, page.size(), &size) != SNAPPY_OK || size != to.size() ||
        ::snappy_uncompress(from, page.size(), reinterpret_cast<char*>(to.data()), &size) !=
            SNAPPY_OK)
      fail_as_damaged("Snappy");
  }
};

}  // namespace

std::unique_ptr<PageUnpacker> make_snappy_page_unpacker() {
  return std::make_unique<SnappyPageUnpacker>();
}

}  // namespace loaderscope::source
