// Streams of Arrow's messages, as libraries write them.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unit/source/container_bytes.h"

namespace loaderscope::source {

// The slots of tables are those of Arrow's Message.fbs and Schema.fbs.
class ArrowMessageBytes {
 public:
  // The schema message of one column "image" of the type Binary.
  static std::string columns() {
    ArrowMessageBytes message;
    auto& out = message.out_;
    const auto name = out.CreateString("image");
    const Part type = out.EndTable(out.StartTable());
    const auto children = out.CreateVector(std::vector<Part>());
    auto table = out.StartTable();
    out.AddOffset(4, name);
    out.AddElement<std::uint8_t>(8, 4, 0);
    out.AddOffset(10, type);
    out.AddOffset(14, children);
    const auto fields = out.CreateVector(std::vector<Part>{out.EndTable(table)});
    table = out.StartTable();
    out.AddOffset(6, fields);
    return message.finish(1, out.EndTable(table), "");
  }

  static std::string batch(const std::vector<std::string>& values) {
    std::string ends = number_bytes(std::int32_t{0}), bytes;
    for (const std::string& value : values) {
      bytes += value;
      ends += number_bytes(static_cast<std::int32_t>(bytes.size()));
    }
    const std::vector<Pair> buffers = {
        {0, 0}, {0, length(ends)}, {padded_length(ends), length(bytes)}};
    ArrowMessageBytes message;
    auto& out = message.out_;
    const std::vector<Pair> nodes = {{static_cast<std::int64_t>(values.size()), 0}};
    const auto all_nodes = out.CreateVectorOfStructs(nodes);
    const auto all_buffers = out.CreateVectorOfStructs(buffers);
    const auto table = out.StartTable();
    out.AddElement<std::int64_t>(4, nodes.front().first, 0);
    out.AddOffset(6, all_nodes);
    out.AddOffset(8, all_buffers);
    return message.finish(3, out.EndTable(table), padded(ends) + padded(bytes));
  }

 private:
  using Part = flatbuffers::Offset<void>;
  struct Pair {
    std::int64_t first, second;
  };

  static std::int64_t length(const std::string& bytes) {
    return static_cast<std::int64_t>(bytes.size());
  }
  static std::int64_t padded_length(const std::string& bytes) {
    return (length(bytes) + 7) / 8 * 8;
  }
  static std::string padded(std::string bytes) {
    bytes.resize(static_cast<std::size_t>(padded_length(bytes)));
    return bytes;
  }

  std::string finish(std::uint8_t kind, Part content, const std::string& body) {
    const auto table = out_.StartTable();
    out_.AddElement<std::int16_t>(4, 4, 0);
    out_.AddElement<std::uint8_t>(6, kind, 0);
    out_.AddOffset(8, content);
    out_.AddElement<std::int64_t>(10, length(body), 0);
    out_.Finish(Part(out_.EndTable(table)));
    const std::string head =
        padded({reinterpret_cast<const char*>(out_.GetBufferPointer()), out_.GetSize()});
    return number_bytes(std::uint32_t{0xffffffff}) +
           number_bytes(static_cast<std::uint32_t>(head.size())) + head + body;
  }

  flatbuffers::FlatBufferBuilder out_;
};

// Batches of three rows.
inline std::string arrow_file_bytes(const std::vector<std::string>& values) {
  std::string bytes = ArrowMessageBytes::columns();
  for (auto at = values.begin(); at != values.end();) {
    const auto end = values.end() - at > 3 ? at + 3 : values.end();
    bytes += ArrowMessageBytes::batch({at, end});
    at = end;
  }
  return bytes + number_bytes(std::uint32_t{0xffffffff}) + number_bytes(std::uint32_t{0});
}

}  // namespace loaderscope::source
