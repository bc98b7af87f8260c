// zstd by libzstd.
#include <zstd.h>
#include <zstd_errors.h>

#include <new>
#include <string>

#include "loaderscope/errors.h"
#include "source/unpacker.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

[[noreturn]] void fail_to_decompress(std::size_t result) {
  switch (::ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
      throw std::bad_alloc();
    case ZSTD_error_frameParameter_windowTooLarge:
      throw SampleError(Kind::too_large,
                        "its zstd data need a window of more than 128 MiB in every worker",
                        "pack them with zstd --long=27 or less");
    case ZSTD_error_dictionary_wrong:
      throw SampleError(Kind::unsupported,
                        "its zstd data need the dictionary that they were packed with",
                        "pack them without -D");
    default:
      throw SampleError(Kind::damaged,
                        std::string("its zstd data are damaged: ") + ::ZSTD_getErrorName(result));
  }
}

class ZstdUnpacker final : public Unpacker {
 public:
  ZstdUnpacker() : stream_(::ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

  Step unpack(std::span<const std::byte> from, std::span<std::byte> to) override {
    if (is_complete() && from.empty()) return {};  // a call would begin the next frame
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    left_ = ::ZSTD_decompressStream(stream_.get(), &out, &in);
    if (::ZSTD_isError(left_) != 0) fail_to_decompress(left_);
    return {in.pos, out.pos};
  }
  bool is_complete() const override { return left_ == 0; }
  Bytes memory() const override { return static_cast<Bytes>(::ZSTD_sizeof_DStream(stream_.get())); }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ::ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  std::size_t left_ = 1;  // hint of the bytes left in the frame; 0: it has ended
};

}  // namespace

std::unique_ptr<Unpacker> make_zstd_unpacker() { return std::make_unique<ZstdUnpacker>(); }

}  // namespace loaderscope::source
