// zstd by libzstd.
#include <zstd.h>
#include <zstd_errors.h>

#include <new>
#include <string>

#include "loaderscope/errors.h"
#include "source/compression.h"

namespace loaderscope::source {
namespace {

class ZstdPacker final : public Packer {
 public:
  ZstdPacker() : context_(::ZSTD_createCCtx()) {
    if (!context_) throw std::bad_alloc();
    ::ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  void expect(std::uint64_t bytes) override {
    ::ZSTD_CCtx_setPledgedSrcSize(context_.get(), bytes);
  }
  void pack(std::span<const std::byte> from, std::vector<std::byte>& to) override {
    step(from, ZSTD_e_continue, to);
  }
  void finish(std::vector<std::byte>& to) override { step({}, ZSTD_e_end, to); }

 private:
  void step(std::span<const std::byte> from, ZSTD_EndDirective end, std::vector<std::byte>& to) {
    ZSTD_inBuffer input{from.data(), from.size(), 0};
    for (std::size_t left = 1; left != 0 || input.pos < input.size;) {
      const std::size_t begin = to.size();
      to.resize(begin + ::ZSTD_CStreamOutSize());
      ZSTD_outBuffer out{to.data() + begin, to.size() - begin, 0};
      left = ::ZSTD_compressStream2(context_.get(), &out, &input, end);
      to.resize(begin + out.pos);
      if (::ZSTD_isError(left) != 0)
        throw RunError(std::string("zstd cannot pack it: ") + ::ZSTD_getErrorName(left));
      if (end == ZSTD_e_continue && input.pos == input.size) return;
    }
  }

  struct Free {
    void operator()(ZSTD_CCtx* context) const { ::ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_;
};

}  // namespace

std::unique_ptr<Packer> make_zstd_packer() { return std::make_unique<ZstdPacker>(); }

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
    ZSTD_inBuffer input{from.data(), from.size(), 0};
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    left_ = ::ZSTD_decompressStream(stream_.get(), &out, &input);
    if (::ZSTD_isError(left_) != 0) fail_to_decompress(left_);
    return {input.pos, out.pos};
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
