// Files that hold several samples: whatever their bytes, they are refused or every sample lies
// where the source says.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "source/npy.h"
#include "source/tar.h"

namespace {

using loaderscope::ValueError;

void walk_tar(std::span<const std::uint8_t> bytes) {
  static const loaderscope::Fd file(::memfd_create("fuzz", MFD_CLOEXEC));
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, bytes.data(), bytes.size(), 0) < 0) return;
  loaderscope::source::PiecesOfShard shard(file);
  loaderscope::source::TarWalk walk(shard);
  try {
    while (const auto member = walk.next()) {
      if (member->begin <= 0 || member->size < 0) __builtin_trap();
      loaderscope::source::sample_name(member->name);
    }
  } catch (const ValueError&) {
  }
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
  return 0;
}
