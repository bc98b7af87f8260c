// lz4 frames by liblz4.
#include <lz4frame.h>

#include <algorithm>
#include <new>
#include <string>

#include "loaderscope/errors.h"
#include "source/unpacker.h"

namespace loaderscope::source {
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

}  // namespace loaderscope::source
