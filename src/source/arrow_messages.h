// Arrow's messages: what the columns are, and where in a record batch their buffers lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope::source {

// Of the tree of columns a node.
struct ArrowField {
  std::string name;
  std::uint8_t type = 0;  // in the file
  std::int32_t bits = 0;  // of whole numbers
  bool is_signed = false;
  // Where the column holds numbers of values that lie elsewhere.
  struct Dictionary {
    std::int64_t id = 0;
    std::int32_t bits = 32;  // of the numbers
    bool is_signed = true;
  };
  std::optional<Dictionary> dictionary;
  std::vector<ArrowField> children;
};

struct ArrowBuffer {
  std::int64_t begin = 0, length = 0;  // in what lies behind the message
};

struct ArrowBatch {
  std::int64_t rows = 0;
  std::vector<std::int64_t> rows_of_nodes,
      nulls_of_nodes;                       // of all fields, each before its children
  std::vector<ArrowBuffer> buffers;         // likewise
  std::vector<std::int64_t> extra_buffers;  // of columns of views
  std::optional<std::int8_t> codec;
};

// The values of a dictionary.
struct ArrowDictionaryBatch {
  std::int64_t id = 0;
  bool is_more = false;  // behind those that are there; else in place of them
  ArrowBatch batch;
};

struct ArrowMessage {
  Bytes body = 0;  // behind it
  std::optional<std::vector<ArrowField>> columns;
  std::optional<ArrowBatch> batch;
  std::optional<ArrowDictionaryBatch> dictionary;  // none of these: what is of no use here
};

// Where a message lies in a file.
struct ArrowBlock {
  Bytes begin = 0, head = 0, body = 0;
};

struct ArrowFooter {
  std::vector<ArrowField> columns;
  std::vector<ArrowBlock> dictionaries, batches;
};

// Throw ValueError, as it continues "PATH: ".
ArrowMessage parse_arrow_message(std::span<const std::byte> bytes);
ArrowFooter parse_arrow_footer(std::span<const std::byte> bytes);

}  // namespace loaderscope::source
