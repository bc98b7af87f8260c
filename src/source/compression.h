// The family of compressions of shards, which are recognised by their first bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/rows.h"
#include "loaderscope/source.h"
#include "loaderscope/units.h"

namespace loaderscope::source {

// Compressor that works piece by piece. Packs one file. Throws RunError, which continues "PATH: ".
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

// Decompressor that works piece by piece.
class Unpacker {
 public:
  // Bytes taken of `from`, and bytes written to `to`.
  struct Step {
    std::size_t taken = 0, given = 0;
  };

  virtual ~Unpacker() = default;
  // Continues after the bytes that the last call took. Both 0: more input is needed. Throws
  // SampleError, which continues "PATH: ", and cannot be used afterwards.
  virtual Step unpack(std::span<const std::byte> from, std::span<std::byte> to) = 0;
  // Returns true if the input may be complete.
  virtual bool is_complete() const = 0;
  virtual Bytes memory() const = 0;  // memory that it holds now
};

std::unique_ptr<Unpacker> make_gzip_unpacker();  // supports several members, as of pigz and bgzip
std::unique_ptr<Unpacker> make_lz4_unpacker();   // supports several frames, as of lz4
std::unique_ptr<Unpacker> make_zstd_unpacker();  // supports several frames, as of pzstd

// The sub-stage in which a reader unpacks what is stored. While it lives, the reader unpacks.
class Unpacking {
 public:
  explicit Unpacking(SubstageListener& stages) : stages_(stages) {
    stages_.enter(Stage::read_decompress);
  }
  ~Unpacking() { stages_.leave(); }
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;

 private:
  SubstageListener& stages_;
};

}  // namespace loaderscope::source

namespace loaderscope {

struct CompressionRow {
  Row row;
  std::string_view magic;                                      // first bytes of such a file
  std::string_view program;                                    // program that unpacks it
  std::unique_ptr<source::Unpacker> (*make)() = nullptr;       // null: as the row says
  std::unique_ptr<source::Packer> (*make_packer)() = nullptr;  // null: packing is not supported
  std::string_view ending = {};     // suffix of such shards after their own
  std::string_view mds_word = {};   // name in mosaicml-streaming; "": not supported there
  std::string_view page_word = {};  // name of the codec in Parquet
};

std::span<const CompressionRow> compression_table();

namespace source {

class ShardBytes;

// Returns null if no known compression matches. Throws the exceptions of `shard`.
const CompressionRow* detect_compression(ShardBytes& shard);

// Returns the rest of a message after "PATH: ": the file has no index. If the compression has no
// unpacker, the message also says that it cannot be a stream.
std::string why_not_indexed(const CompressionRow& row);
std::string why_not_read(const CompressionRow& row);

}  // namespace source
}  // namespace loaderscope
