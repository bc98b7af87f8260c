// What packs bytes, a piece at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace loaderscope::source {

// One file's. Throws RunError, as it continues "PATH: ".
class Packer {
 public:
  virtual ~Packer() = default;
  // How much will come in all, where that is known, before any of it: some readers want that it is
  // written down.
  virtual void expect(std::uint64_t bytes) { static_cast<void>(bytes); }
  // Both append to `to`; what was packed may come later, and comes at the end.
  virtual void pack(std::span<const std::byte> from, std::vector<std::byte>& to) = 0;
  virtual void finish(std::vector<std::byte>& to) = 0;
};

// At the levels that the programs of these names have by default.
std::unique_ptr<Packer> make_gzip_packer();
std::unique_ptr<Packer> make_lz4_packer();
std::unique_ptr<Packer> make_zstd_packer();

}  // namespace loaderscope::source
