#include "source/page_codec.h"

#include <fmt/format.h>

#include <algorithm>

#include "built_with.h"
#include "loaderscope/errors.h"
#include "source/compression.h"

namespace loaderscope::source {
namespace {

using Make = std::unique_ptr<PageUnpacker> (*)();

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

// Null if `make` is, as its library is missing.
template <std::unique_ptr<Unpacker> (*make)()>
consteval Make unpack_stream() {
  if constexpr (make == nullptr) {
    return nullptr;
  } else {
    return
        []() -> std::unique_ptr<PageUnpacker> { return std::make_unique<StreamUnpacker<make>>(); };
  }
}

using built_with::kLz4, built_with::kSnappy, built_with::kZlib, built_with::kZstd;
constexpr Make kGzipStream = unpack_stream<if_built(kZlib, make_gzip_unpacker)>();
constexpr Make kZstdStream = unpack_stream<if_built(kZstd, make_zstd_unpacker)>();
constexpr Make kLz4Stream = unpack_stream<if_built(kLz4, make_lz4_unpacker)>();

constexpr std::string_view kNotReadHere =
    "is not read here; write it with zstd, snappy or not compressed";

constexpr PageCodec kCodecs[] = {
    {kStoredAsIs, "no codec", nullptr},
    {1, "snappy", if_built(kSnappy, make_snappy_page_unpacker), &kSnappy},
    {2, "gzip", kGzipStream, &kZlib},
    {3, "LZO", nullptr},
    {4, "Brotli", nullptr},
    {5, "LZ4 in Hadoop's frames", nullptr},
    {6, "zstd", kZstdStream, &kZstd},
    {7, "lz4", if_built(kLz4, make_lz4_page_unpacker), &kLz4},
};

constexpr PageCodec kArrowCodecs[] = {
    {0, "lz4", kLz4Stream, &kLz4},
    {1, "zstd", kZstdStream, &kZstd},
};

const PageCodec& find_codec(std::span<const PageCodec> codecs, std::int64_t number) {
  const auto found = std::find_if(codecs.begin(), codecs.end(),
                                  [&](const PageCodec& one) { return one.number == number; });
  if (found == codecs.end())
    throw ValueError(
        fmt::format("is compressed by a codec of the number {}, which {}", number, kNotReadHere));
  return *found;
}

[[noreturn]] void fail_without(const PageCodec& codec) {
  if (codec.library == nullptr)
    throw ValueError(fmt::format("is compressed by {}, which {}", codec.name, kNotReadHere));
  throw ValueError(
      fmt::format("is compressed by {}, which this program is built without", codec.name),
      fmt::format("install {} and build again", codec.library->packages));
}

}  // namespace

void fail_as_damaged(std::string_view codec) {
  throw SampleError(
      SampleError::Kind::damaged,
      fmt::format("its page is damaged: it is not what {} makes of as many bytes", codec));
}

const PageCodec& page_codec(std::int64_t number) {
  const PageCodec& found = find_codec(kCodecs, number);
  if (number != kStoredAsIs && found.make == nullptr) fail_without(found);
  return found;
}

const PageCodec& page_codec_called(std::string_view name) {
  return *std::find_if(std::begin(kCodecs), std::end(kCodecs),
                       [&](const PageCodec& one) { return one.name == name; });
}

const PageCodec& arrow_codec(std::int64_t number) {
  const PageCodec& found = find_codec(kArrowCodecs, number);
  if (found.make == nullptr) fail_without(found);
  return found;
}

}  // namespace loaderscope::source
