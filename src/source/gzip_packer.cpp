// gzip by zlib.
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "loaderscope/errors.h"
#include "source/packer.h"

namespace loaderscope::source {
namespace {

constexpr int kPackedWindow = MAX_WBITS + 16;  // largest window, after gzip's header
constexpr int kMemory = 8;                     // zlib's default
constexpr std::size_t kRoom = std::size_t{64} << 10;
constexpr std::size_t kMaxDeflated = std::numeric_limits<uInt>::max();

class GzipPacker final : public Packer {
 public:
  GzipPacker() {
    const int result = ::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kPackedWindow,
                                      kMemory, Z_DEFAULT_STRATEGY);
    if (result != Z_OK) throw std::bad_alloc();
  }
  ~GzipPacker() override { ::deflateEnd(&stream_); }
  GzipPacker(const GzipPacker&) = delete;
  GzipPacker& operator=(const GzipPacker&) = delete;

  void pack(std::span<const std::byte> from, std::vector<std::byte>& to) override {
    for (; !from.empty(); from = from.subspan(std::min(from.size(), kMaxDeflated)))
      deflate(from.first(std::min(from.size(), kMaxDeflated)), Z_NO_FLUSH, to);
  }
  void finish(std::vector<std::byte>& to) override { deflate({}, Z_FINISH, to); }

 private:
  void deflate(std::span<const std::byte> from, int flush, std::vector<std::byte>& to) {
    // zlib only reads there.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
    stream_.avail_in = static_cast<uInt>(from.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(room_.data());
      stream_.avail_out = static_cast<uInt>(room_.size());
      if (::deflate(&stream_, flush) == Z_STREAM_ERROR) throw RunError("gzip cannot pack it");
      to.insert(to.end(), room_.begin(), room_.end() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
  std::vector<std::byte> room_ = std::vector<std::byte>(kRoom);
};

}  // namespace

std::unique_ptr<Packer> make_gzip_packer() { return std::make_unique<GzipPacker>(); }

}  // namespace loaderscope::source
