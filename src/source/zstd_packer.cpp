// zstd by libzstd.
#include <zstd.h>

#include <new>
#include <string>

#include "loaderscope/errors.h"
#include "source/packer.h"

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
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    for (std::size_t left = 1; left != 0 || in.pos < in.size;) {
      const std::size_t begin = to.size();
      to.resize(begin + ::ZSTD_CStreamOutSize());
      ZSTD_outBuffer out{to.data() + begin, to.size() - begin, 0};
      left = ::ZSTD_compressStream2(context_.get(), &out, &in, end);
      to.resize(begin + out.pos);
      if (::ZSTD_isError(left) != 0)
        throw RunError(std::string("zstd cannot pack it: ") + ::ZSTD_getErrorName(left));
      if (end == ZSTD_e_continue && in.pos == in.size) return;
    }
  }

  struct Free {
    void operator()(ZSTD_CCtx* context) const { ::ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_;
};

}  // namespace

std::unique_ptr<Packer> make_zstd_packer() { return std::make_unique<ZstdPacker>(); }

}  // namespace loaderscope::source
