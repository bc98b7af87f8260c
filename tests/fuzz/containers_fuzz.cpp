// Files that hold several samples: whatever their bytes, they are refused or every sample lies
// where the source says.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "source/npy.h"
#include "source/store.h"
#include "source/tar.h"
#include "source/tar_stream.h"
#include "source/tokens.h"

namespace {

using loaderscope::ValueError;

// The same bytes as a stream, which unpacks what is compressed: what is wrong with one sample ends
// with it, or with the shard.
void read_all(loaderscope::source::ShardSamples& samples) {
  loaderscope::source::HeldSample held;
  for (bool more = true; more;) {
    try {
      more = samples.next(held);
      if (more && held.bytes().empty()) __builtin_trap();
      if (more && held.stored_bytes < 0) __builtin_trap();
    } catch (const loaderscope::SampleError&) {
    }
  }
}

void stream_tar(const std::string& path) {
  using namespace loaderscope::source;
  static ShardReading reading;
  static loaderscope::SubstageListener listener;
  reading.access.largest_sample = 1 << 20;
  try {
    ShardSamples samples(path, 0, reading, listener);
    read_all(samples);
  } catch (const loaderscope::SampleError&) {  // a compression that is not read
  }
}

void read_index(const std::string& path) {
  try {
    const auto index = loaderscope::source::read_token_index(path);
    if (index.sequences < 0 || index.token_bytes <= 0 || index.end < 0) __builtin_trap();
  } catch (const loaderscope::RunError&) {
  }
}

// Members that an index names lie in the shard.
void read_given_index(std::span<const std::uint8_t> bytes) {
  constexpr loaderscope::Bytes kShard = 1 << 20;
  try {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (const auto& member : loaderscope::source::parse_given_index(text, kShard)) {
      if (member.begin < loaderscope::source::kTarBlock || member.size < 0 ||
          member.begin > kShard || member.size > kShard - member.begin)
        __builtin_trap();
    }
  } catch (const ValueError&) {
  }
}

void walk_tar(std::span<const std::uint8_t> bytes) {
  static const loaderscope::Fd file(::memfd_create("fuzz", MFD_CLOEXEC));
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, bytes.data(), bytes.size(), 0) < 0) return;
  const std::string path = "/proc/self/fd/" + std::to_string(static_cast<int>(file));
  const auto shard = loaderscope::source::local_store().open(path);
  loaderscope::source::TarWalk walk(*shard);
  try {
    while (const auto member = walk.next()) {
      if (member->begin <= 0 || member->size < 0) __builtin_trap();
      loaderscope::source::sample_name(member->name);
    }
  } catch (const ValueError&) {
  }
  stream_tar(path);
  read_index(path);
}

void read_npy(std::span<const std::uint8_t> bytes) {
  try {
    const auto header = loaderscope::source::parse_npy_header(std::as_bytes(bytes));
    if (header.rows < 0 || header.row_bytes < 0 || header.begin <= 0) __builtin_trap();
  } catch (const ValueError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  walk_tar({data, size});
  read_npy({data, size});
  read_given_index({data, size});
  return 0;
}
