// lz4 frames by liblz4.
#include <lz4frame.h>

#include <algorithm>
#include <new>
#include <string>

#include "loaderscope/errors.h"
#include "source/packer.h"

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

}  // namespace loaderscope::source
