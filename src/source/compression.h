// The family of compressions: how files that hold samples may be packed, told by their first bytes.
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
  std::string_view magic;                                      // that such a file begins with
  std::string_view program;                                    // that unpacks one
  std::unique_ptr<source::Unpacker> (*make)() = nullptr;       // null: as the row says
  std::unique_ptr<source::Packer> (*make_packer)() = nullptr;  // null: nothing is so packed here
  std::string_view ending = {};     // of names of such shards, behind their own
  std::string_view mds_word = {};   // likewise, of mosaicml-streaming; "": it reads none
  std::string_view page_word = {};  // what pages of Parquet are called that are so packed
};

std::span<const CompressionRow> compression_table();

namespace source {

class ShardBytes;

// Null: it is not compressed, as far as is known. Throws as `shard` does.
const CompressionRow* compression_of(ShardBytes& shard);

// As they continue "PATH: ": that it has no index, and, of what has no unpacker, that it is no
// stream.
std::string why_not_indexed(const CompressionRow& row);
std::string why_not_read(const CompressionRow& row);

}  // namespace source
}  // namespace loaderscope
