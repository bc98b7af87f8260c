// Compressor that works piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace loaderscope::source {

// Packs one file. Throws RunError, which continues "PATH: ".
class Packer {
 public:
  virtual ~Packer() = default;
  // Declares the total size, if known, before any data. Some readers need it in the header.
  virtual void expect(std::uint64_t bytes) { static_cast<void>(bytes); }
  // Both append to `to`. Packed bytes may be delayed until finish().
  virtual void pack(std::span<const std::byte> from, std::vector<std::byte>& to) = 0;
  virtual void finish(std::vector<std::byte>& to) = 0;
};

// Packers with the default levels of the programs of these names.
std::unique_ptr<Packer> make_gzip_packer();
std::unique_ptr<Packer> make_lz4_packer();
std::unique_ptr<Packer> make_zstd_packer();

}  // namespace loaderscope::source
