// Files that hold several samples, byte by byte as their libraries write them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source/tfrecord.h"

namespace loaderscope::source {

// An array in the format of numpy.save, version 1.0.
inline std::string npy_bytes(std::string_view type, std::string_view shape, std::string_view rows,
                             std::string_view order = "False") {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, order, shape);
  header.append(63 - (header.size() + 10) % 64, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += {'\1', '\0', static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  return bytes.append(header).append(rows);
}

// A shard in the ustar format of Python's tarfile.
class TarBytes {
 public:
  TarBytes& add(std::string_view name, std::string_view content, char type = '0') {
    return add(name, content, type, 0);
  }
  // Adds a sparse member in the format of GNU tar, with `blocks` more blocks of its map.
  TarBytes& add_sparse(std::string_view name, std::string_view content, int blocks) {
    return add(name, content, 'S', blocks);
  }
  std::string finish() const { return bytes_ + std::string(1024, '\0'); }
  const std::string& unfinished() const { return bytes_; }

 private:
  TarBytes& add(std::string_view name, std::string_view content, char type, int map_blocks) {
    std::string block(512, '\0');
    const auto put = [&block](std::size_t at, std::string_view text) {
      block.replace(at, text.size(), text);
    };
    put(0, name.substr(0, 100));
    put(100, "0000644\0");
    put(124, fmt::format("{:011o}", content.size()));
    put(148, "        ");
    block[156] = type;
    put(257, std::string_view("ustar\00000", 8));
    if (map_blocks > 0) block[482] = 1;
    unsigned sum = 0;
    for (const char byte : block) sum += static_cast<unsigned char>(byte);
    put(148, fmt::format("{:06o}", sum) + '\0');
    bytes_ += block;
    for (int i = 1; i <= map_blocks; ++i) {
      std::string map(512, '\0');
      map[504] = i < map_blocks ? 1 : 0;
      bytes_ += map;
    }
    bytes_ += content;
    bytes_.resize((bytes_.size() + 511) / 512 * 512);
    return *this;
  }

  std::string bytes_;
};

// Little-endian, as all of these are.
template <class Number>
std::string number_bytes(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// A shard in the format of mosaicml-streaming and LitData. `config` follows the offsets.
inline std::string item_shard(const std::vector<std::string>& items, std::string_view config = "") {
  std::string offsets, all;
  const std::size_t begin = 4 * (items.size() + 2) + config.size();
  for (const std::string& item : items) {
    offsets += number_bytes(static_cast<std::uint32_t>(begin + all.size()));
    all += item;
  }
  offsets += number_bytes(static_cast<std::uint32_t>(begin + all.size()));
  return number_bytes(static_cast<std::uint32_t>(items.size())) + offsets + std::string(config) +
         all;
}

// An item of fields, all of which have their size in front.
inline std::string make_item(const std::vector<std::string>& fields) {
  std::string sizes, all;
  for (const std::string& field : fields) {
    sizes += number_bytes(static_cast<std::uint32_t>(field.size()));
    all += field;
  }
  return sizes + all;
}

struct ItemShardFacts {
  std::string file;
  std::size_t items = 0, bytes = 0;
};

// Columns "class", 8 bytes, and "image".
inline std::string mds_index(const std::vector<ItemShardFacts>& shards) {
  std::string text;
  for (const ItemShardFacts& shard : shards) {
    text += fmt::format(
        R"({}{{"column_encodings": ["int", "jpeg"], "column_names": ["class", "image"], )"
        R"("column_sizes": [8, null], "compression": null, "format": "mds", "hashes": [], )"
        R"("raw_data": {{"basename": "{}", "bytes": {}, "hashes": {{}}}}, "samples": {}, )"
        R"("size_limit": 67108864, "version": 2, "zip_data": null}})",
        text.empty() ? "" : ", ", shard.file, shard.bytes, shard.items);
  }
  return R"({"shards": [)" + text + R"(], "version": 2})";
}

// A list of an image and a number.
inline std::string litdata_index(const std::vector<ItemShardFacts>& chunks) {
  std::string text;
  for (const ItemShardFacts& chunk : chunks) {
    text +=
        fmt::format(R"({}{{"chunk_bytes": {}, "chunk_size": {}, "dim": null, "filename": "{}"}})",
                    text.empty() ? "" : ", ", chunk.bytes, chunk.items, chunk.file);
  }
  return R"({"chunks": [)" + text +
         R"(], "config": {"chunk_bytes": 67108864, "compression": null, "data_format": )"
         R"(["bytes", "int"], "data_spec": null, "encryption": null, )"
         R"("item_loader": "PyTreeLoader"}})";
}

// One record in the format of TFRecordWriter, with checksums from masked_crc32c().
inline std::string tfrecord_bytes(std::string_view record) {
  const std::string length = number_bytes(static_cast<std::uint64_t>(record.size()));
  const auto sum = [](std::string_view text) {
    return number_bytes(masked_crc32c(std::as_bytes(std::span(text))));
  };
  return length + sum(length) + std::string(record) + sum(record);
}

// A tf.train.Example of features that hold one text of bytes each.
inline std::string example_bytes(const std::vector<std::pair<std::string, std::string>>& features) {
  std::string map;
  for (const auto& [name, value] : features) {
    std::string list, feature, entry;
    protozero::pbf_writer(list).add_bytes(1, value);
    protozero::pbf_writer(feature).add_message(1, list);
    protozero::pbf_writer writer(entry);
    writer.add_string(1, name);
    writer.add_message(2, feature);
    protozero::pbf_writer(map).add_message(1, entry);
  }
  std::string example;
  protozero::pbf_writer(example).add_message(1, map);
  return example;
}

}  // namespace loaderscope::source
