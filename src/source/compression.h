// The family of compressions of shards, which are recognised by their first bytes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/rows.h"
#include "source/packer.h"
#include "source/unpacker.h"

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
const CompressionRow* compression_of(ShardBytes& shard);

// Returns the rest of a message after "PATH: ": the file has no index. If the compression has no
// unpacker, the message also says that it cannot be a stream.
std::string why_not_indexed(const CompressionRow& row);
std::string why_not_read(const CompressionRow& row);

}  // namespace source
}  // namespace loaderscope
