#include "engine/import/trace_stream.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "source/compression.h"

namespace loaderscope::traces {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;
constexpr std::int64_t kMaxToken = std::int64_t{16} << 20;
// JSON of traces is packed to a tenth; a file that unpacks to far more was made to.
constexpr std::int64_t kMaxUnpacked = 500;  // times its size
constexpr std::int64_t kSmall = std::int64_t{64} << 20;

std::unique_ptr<source::Unpacker> make_unpacker(std::string_view beginning,
                                                const std::string& path) {
  for (const CompressionRow& row : compression_table()) {
    if (!beginning.starts_with(row.magic)) continue;
    if (row.make == nullptr) throw RunError(fmt::format("{}: {}", path, source::why_not_read(row)));
    return row.make();
  }
  return nullptr;
}

}  // namespace

TraceStream::TraceStream(const std::string& path) : path_(path), packed_(kPiece), bytes_(kPiece) {
  if (const auto kind = non_file_kind(path); !kind.empty())
    throw RunError(fmt::format("{}: is {}", path, kind), "give a file that a profiler wrote");
  file_.open(path, std::ios::binary);
  if (!file_)
    throw RunError(fmt::format("{}: cannot be read ({})", path, std::strerror(errno)),
                   "give a file that a profiler wrote");
  fill();
  unpacker_ = make_unpacker({packed_.data(), packed_end_}, path);
}

bool TraceStream::fill() {
  file_.read(packed_.data(), static_cast<std::streamsize>(packed_.size()));
  if (file_.bad())
    throw RunError(fmt::format("{}: cannot be read at byte {}", path_, read_), "look at its disk");
  packed_begin_ = 0;
  packed_end_ = static_cast<std::size_t>(file_.gcount());
  read_ += file_.gcount();
  return packed_end_ > 0;
}

std::size_t TraceStream::unpack() {
  for (;;) {
    const auto packed =
        std::as_bytes(std::span(packed_)).subspan(packed_begin_, packed_end_ - packed_begin_);
    const auto step = unpacker_->unpack(packed, std::as_writable_bytes(std::span(bytes_)));
    packed_begin_ += step.taken;
    if (step.given > 0) return step.given;
    if (step.taken == 0 && (packed_begin_ < packed_end_ || !fill())) return 0;
  }
}

void TraceStream::check_size() const {
  if (given_ - understood_ > kMaxToken)
    throw RunError(fmt::format("{}: has a text or a gap of more than 16 MiB before byte {}, as no "
                               "trace has",
                               path_, given_),
                   "give a file that a profiler wrote");
  if (unpacker_ != nullptr && given_ > kSmall && given_ / kMaxUnpacked > read_)
    throw RunError(fmt::format("{}: unpacks to more than {} times its size, as no trace does",
                               path_, kMaxUnpacked),
                   "give "
                   "a file that a profiler wrote");
}

TraceStream::int_type TraceStream::underflow() {
  std::size_t got = 0;
  try {
    if (unpacker_ != nullptr) {
      got = unpack();
    } else if (packed_begin_ < packed_end_ || fill()) {
      std::swap(packed_, bytes_);
      got = packed_end_;
      packed_begin_ = packed_end_ = 0;
    }
  } catch (const SampleError& error) {
    throw RunError(fmt::format("{}: {}", path_, error.what()), "fetch or record it again");
  }
  if (got == 0) return traits_type::eof();
  given_ += static_cast<std::int64_t>(got);
  check_size();
  setg(bytes_.data(), bytes_.data(), bytes_.data() + got);
  return traits_type::to_int_type(*gptr());
}

}  // namespace loaderscope::traces
