// gzip by zlib.
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <string>

#include "loaderscope/errors.h"
#include "source/compression.h"

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

namespace {

constexpr int kGzipWindow = MAX_WBITS + 16;  // largest window, after gzip's header
// Memory for the largest window. zlib does not report its use.
constexpr Bytes kInflateMemory = Bytes{48} << 10;

[[noreturn]] void fail_to_inflate(int result, const char* why) {
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  throw SampleError(SampleError::Kind::damaged, std::string("its gzip data are damaged: ") +
                                                    (why ? why : "zlib gives no reason"));
}

uInt bounded_by_uint(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

class GzipUnpacker final : public Unpacker {
 public:
  GzipUnpacker() {
    const int result = ::inflateInit2(&stream_, kGzipWindow);
    if (result != Z_OK) fail_to_inflate(result, stream_.msg);
  }
  ~GzipUnpacker() override { ::inflateEnd(&stream_); }
  GzipUnpacker(const GzipUnpacker&) = delete;
  GzipUnpacker& operator=(const GzipUnpacker&) = delete;

  Step unpack(std::span<const std::byte> from, std::span<std::byte> to) override {
    if (!between_members_) return inflate(from, to);
    const std::size_t padding = zeros_before(from);
    if (padding > 0 || from.empty()) return {padding, 0};
    ::inflateReset(&stream_);
    between_members_ = false;
    return inflate(from, to);
  }
  bool is_complete() const override { return between_members_; }
  Bytes memory() const override { return kInflateMemory; }

 private:
  // Counts zeros that tapes and block devices append to files. gzip(1) accepts them.
  static std::size_t zeros_before(std::span<const std::byte> bytes) {
    const auto end = std::find_if(bytes.begin(), bytes.end(),
                                  [](std::byte byte) { return byte != std::byte{0}; });
    return static_cast<std::size_t>(end - bytes.begin());
  }

  Step inflate(std::span<const std::byte> from, std::span<std::byte> to) {
    const uInt room = bounded_by_uint(to.size()), bytes = bounded_by_uint(from.size());
    // zlib only reads there.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
    stream_.avail_in = bytes;
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    stream_.avail_out = room;
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      fail_to_inflate(result, stream_.msg);
    between_members_ = result == Z_STREAM_END;
    return {bytes - stream_.avail_in, room - stream_.avail_out};
  }

  z_stream stream_{};
  bool between_members_ = false;
};

}  // namespace

std::unique_ptr<Unpacker> make_gzip_unpacker() { return std::make_unique<GzipUnpacker>(); }

}  // namespace loaderscope::source
