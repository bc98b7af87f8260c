// lz4 frames by liblz4.
#include <lz4.h>
#include <lz4frame.h>

#include <algorithm>
#include <new>
#include <string>

#include "loaderscope/errors.h"
#include "source/compression.h"
#include "source/page_codec.h"

namespace loaderscope::source {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;  // input of liblz4 per call

// Preferences of lz4(1).
LZ4F_preferences_t preferences() {
  LZ4F_preferences_t all{};
  all.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  all.frameInfo.blockSizeID = LZ4F_max4MB;
  return all;
}

class Lz4Packer final : public Packer {
 public:
  Lz4Packer() {
    if (::LZ4F_isError(::LZ4F_createCompressionContext(&context_, LZ4F_VERSION)) != 0)
      throw std::bad_alloc();
  }
  ~Lz4Packer() override { ::LZ4F_freeCompressionContext(context_); }
  Lz4Packer(const Lz4Packer&) = delete;
  Lz4Packer& operator=(const Lz4Packer&) = delete;

  void pack(std::span<const std::byte> from, std::vector<std::byte>& to) override {
    begin(to);
    for (; !from.empty(); from = from.subspan(std::min(from.size(), kPiece))) {
      const auto piece = from.first(std::min(from.size(), kPiece));
      grow(to, ::LZ4F_compressBound(piece.size(), &preferences_), [&](std::span<std::byte> room) {
        return ::LZ4F_compressUpdate(context_, room.data(), room.size(), piece.data(), piece.size(),
                                     nullptr);
      });
    }
  }
  void finish(std::vector<std::byte>& to) override {
    begin(to);
    grow(to, ::LZ4F_compressBound(0, &preferences_), [&](std::span<std::byte> room) {
      return ::LZ4F_compressEnd(context_, room.data(), room.size(), nullptr);
    });
  }

 private:
  void begin(std::vector<std::byte>& to) {
    if (has_begun_) return;
    has_begun_ = true;
    grow(to, LZ4F_HEADER_SIZE_MAX, [&](std::span<std::byte> room) {
      return ::LZ4F_compressBegin(context_, room.data(), room.size(), &preferences_);
    });
  }

  template <class Write>
  void grow(std::vector<std::byte>& to, std::size_t room, const Write& write) {
    const std::size_t begin = to.size();
    to.resize(begin + room);
    const std::size_t written = write(std::span(to).subspan(begin));
    if (::LZ4F_isError(written) != 0)
      throw RunError(std::string("lz4 cannot pack it: ") + ::LZ4F_getErrorName(written));
    to.resize(begin + written);
  }

  LZ4F_preferences_t preferences_ = preferences();
  LZ4F_cctx* context_ = nullptr;
  bool has_begun_ = false;
};

}  // namespace

std::unique_ptr<Packer> make_lz4_packer() { return std::make_unique<Lz4Packer>(); }

namespace {

// Memory for the largest blocks, twice, and the data that they refer to. liblz4 does not report its
// use.
constexpr Bytes kLz4Memory = Bytes{9} << 20;

[[noreturn]] void fail_to_unpack_lz4(std::size_t result) {
  const std::string why = ::LZ4F_getErrorName(result);
  if (why == "ERROR_allocation_failed") throw std::bad_alloc();
  throw SampleError(SampleError::Kind::damaged, "its lz4 data are damaged: " + why);
}

class Lz4Unpacker final : public Unpacker {
 public:
  Lz4Unpacker() {
    const std::size_t result = ::LZ4F_createDecompressionContext(&context_, LZ4F_VERSION);
    if (::LZ4F_isError(result) != 0) fail_to_unpack_lz4(result);
  }
  ~Lz4Unpacker() override { ::LZ4F_freeDecompressionContext(context_); }
  Lz4Unpacker(const Lz4Unpacker&) = delete;
  Lz4Unpacker& operator=(const Lz4Unpacker&) = delete;

  // liblz4 stops at the end of a frame, and begins the next one with the next call.
  Step unpack(std::span<const std::byte> from, std::span<std::byte> to) override {
    if (is_complete() && from.empty()) return {};
    std::size_t taken = from.size(), given = to.size();
    left_ = ::LZ4F_decompress(context_, to.data(), &given, from.data(), &taken, nullptr);
    if (::LZ4F_isError(left_) != 0) fail_to_unpack_lz4(left_);
    return {taken, given};
  }
  bool is_complete() const override { return left_ == 0; }
  Bytes memory() const override { return kLz4Memory; }

 private:
  LZ4F_dctx* context_ = nullptr;
  std::size_t left_ = 1;  // hint of the bytes left in the frame; 0: it has ended
};

}  // namespace

std::unique_ptr<Unpacker> make_lz4_unpacker() { return std::make_unique<Lz4Unpacker>(); }

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
