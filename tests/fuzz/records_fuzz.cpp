// Indexes, shards of items and records: whatever their bytes, they are refused or what is taken of
// them lies within them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "fuzz/stored_bytes.h"
#include "loaderscope/errors.h"
#include "source/items.h"
#include "source/lmdb.h"
#include "source/shard_bytes.h"
#include "source/tfrecord.h"

namespace {

using namespace loaderscope;
using fuzz::Stored;
using fuzz::touch;

class Memory final : public source::ShardBytes {
 public:
  explicit Memory(Stored bytes) : bytes_(bytes) {}
  std::size_t read(Bytes begin, std::span<std::byte> to) override {
    return fuzz::read_at(bytes_, begin, to);
  }

 private:
  Stored bytes_;
};

// The bytes as an index, and as an item of what it says.
void read_index(source::ItemIndex (*parse)(std::string_view), std::string_view text) {
  try {
    const source::ItemIndex index = parse(text);
    for (const source::ItemShard& shard : index.shards) {
      if (shard.items < 0 || shard.bytes < 0) __builtin_trap();
    }
    source::ItemPart part(index.fields, "");
    touch(part.extract(std::as_bytes(std::span(text))));
  } catch (const ValueError&) {
  } catch (const SampleError&) {
  }
}

void read_shard(Stored bytes) {
  std::uint32_t items = 0;
  if (bytes.size() >= sizeof items) std::memcpy(&items, bytes.data(), sizeof items);
  Memory shard(bytes);
  try {
    const auto offsets = source::read_item_offsets(shard, items, std::ssize(bytes));
    source::ItemPart part({{"a", "int", Bytes{8}}, {"b", "pil", {}}, {"c", "str", {}}}, "");
    for (std::size_t i = 0; i + 1 < offsets.size() && offsets[i + 1] <= bytes.size(); ++i) {
      try {
        touch(part.extract(bytes.subspan(offsets[i], offsets[i + 1] - offsets[i])));
      } catch (const SampleError&) {
      }
    }
  } catch (const ValueError&) {
  }
}

// Also as an Example: few inputs have a right checksum.
void read_records(Stored bytes) {
  Memory file(bytes);
  source::RecordWalk walk(file);
  try {
    while (const auto record = walk.next()) {
      if (record->begin < 0 || record->size < source::kRecordHead) __builtin_trap();
    }
  } catch (const ValueError&) {
  }
  try {
    touch(source::read_feature(bytes, source::image_feature(bytes)));
  } catch (const SampleError&) {
  }
  try {
    touch(source::checked_record(bytes));
  } catch (const SampleError&) {
  }
}

// A value of Caffe's, and a pattern of keys.
void read_datum(Stored bytes, std::string_view text) {
  std::vector<std::byte> image;
  try {
    touch(source::image_of_datum(bytes, image));
  } catch (const SampleError&) {
  }
  try {
    source::fits_key(text.substr(0, text.size() / 2), text.substr(text.size() / 2));
  } catch (const ValueError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Stored bytes = std::as_bytes(std::span(data, size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_index(source::parse_mds_index, text);
  read_index(source::parse_litdata_index, text);
  read_shard(bytes);
  read_records(bytes);
  read_datum(bytes, text);
  return 0;
}
