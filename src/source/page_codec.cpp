#include "source/page_codec.h"

#include <fmt/format.h>
#ifdef LOADERSCOPE_WITH_LZ4
#include <lz4.h>
#endif
#ifdef LOADERSCOPE_WITH_SNAPPY
#include <snappy-c.h>
#endif

#include <algorithm>

#include "loaderscope/errors.h"
#include "source/unpacker.h"

namespace loaderscope::source {
namespace {

using Make = std::unique_ptr<PageUnpacker> (*)();

[[noreturn]] void fail_as_damaged(std::string_view codec) {
  throw SampleError(
      SampleError::Kind::damaged,
      fmt::format("its page is damaged: it is not what {} makes of as many bytes", codec));
}

// A stream's, which is used again after what went well.
template <auto make>
class StreamUnpacker final : public PageUnpacker {
 public:
  void unpack(std::span<const std::byte> page, std::span<std::byte> to) override {
    auto unpacker = unpacker_ ? std::move(unpacker_) : make();
    Unpacker::Step all, step;
    do {
      step = unpacker->unpack(page.subspan(all.taken), to.subspan(all.given));
      all.taken += step.taken;
      all.given += step.given;
    } while (step.taken > 0 || step.given > 0);
    if (all.given != to.size() || !unpacker->is_complete()) fail_as_damaged("its codec");
    unpacker_ = std::move(unpacker);
  }

 private:
  std::unique_ptr<Unpacker> unpacker_;
};

template <class One>
[[maybe_unused]] std::unique_ptr<PageUnpacker> made() {
  return std::make_unique<One>();
}

#ifdef LOADERSCOPE_WITH_ZLIB
constexpr Make kGzip = made<StreamUnpacker<make_gzip_unpacker>>;
#else
constexpr Make kGzip = nullptr;
#endif
#ifdef LOADERSCOPE_WITH_ZSTD
constexpr Make kZstd = made<StreamUnpacker<make_zstd_unpacker>>;
#else
constexpr Make kZstd = nullptr;
#endif

#ifdef LOADERSCOPE_WITH_LZ4
class Lz4PageUnpacker final : public PageUnpacker {
 public:
  void unpack(std::span<const std::byte> page, std::span<std::byte> to) override {
    const int given = ::LZ4_decompress_safe(
        reinterpret_cast<const char*>(page.data()), reinterpret_cast<char*>(to.data()),
        static_cast<int>(page.size()), static_cast<int>(to.size()));
    if (given != std::ssize(to)) fail_as_damaged("LZ4");
  }
};
constexpr Make kLz4 = made<Lz4PageUnpacker>;
constexpr Make kLz4Frames = made<StreamUnpacker<make_lz4_unpacker>>;
#else
constexpr Make kLz4 = nullptr;
constexpr Make kLz4Frames = nullptr;
#endif

#ifdef LOADERSCOPE_WITH_SNAPPY
class SnappyUnpacker final : public PageUnpacker {
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
constexpr Make kSnappy = made<SnappyUnpacker>;
#else
constexpr Make kSnappy = nullptr;
#endif

constexpr std::string_view kNotReadHere =
    "is not read here; write it with zstd, snappy or not compressed";

constexpr std::string_view kNoSnappy =
    "this program is built without; install libsnappy-dev and build again";
constexpr std::string_view kNoZlib =
    "this program is built without; install zlib1g-dev and build again";
constexpr std::string_view kNoZstd =
    "this program is built without; install libzstd-dev and build again";
constexpr std::string_view kNoLz4 =
    "this program is built without; install liblz4-dev and build again";

constexpr PageCodec kCodecs[] = {
    {kStoredAsIs, "no codec", nullptr},   {1, "snappy", kSnappy, kNoSnappy},
    {2, "gzip", kGzip, kNoZlib},          {3, "LZO", nullptr, kNotReadHere},
    {4, "Brotli", nullptr, kNotReadHere}, {5, "LZ4 in Hadoop's frames", nullptr, kNotReadHere},
    {6, "zstd", kZstd, kNoZstd},          {7, "lz4", kLz4, kNoLz4},
};

constexpr PageCodec kArrowCodecs[] = {
    {0, "lz4", kLz4Frames, kNoLz4},
    {1, "zstd", kZstd, kNoZstd},
};

const PageCodec& codec_in(std::span<const PageCodec> codecs, std::int64_t number) {
  const auto found = std::find_if(codecs.begin(), codecs.end(),
                                  [&](const PageCodec& one) { return one.number == number; });
  if (found == codecs.end())
    throw ValueError(
        fmt::format("is compressed by a codec of the number {}, which {}", number, kNotReadHere));
  return *found;
}

[[noreturn]] void fail_without(const PageCodec& codec) {
  throw ValueError(fmt::format("is compressed by {}, which {}", codec.name, codec.reason));
}

}  // namespace

const PageCodec& page_codec(std::int64_t number) {
  const PageCodec& found = codec_in(kCodecs, number);
  if (number != kStoredAsIs && found.make == nullptr) fail_without(found);
  return found;
}

const PageCodec& page_codec_called(std::string_view name) {
  return *std::find_if(std::begin(kCodecs), std::end(kCodecs),
                       [&](const PageCodec& one) { return one.name == name; });
}

const PageCodec& arrow_codec(std::int64_t number) {
  const PageCodec& found = codec_in(kArrowCodecs, number);
  if (found.make == nullptr) fail_without(found);
  return found;
}

}  // namespace loaderscope::source
