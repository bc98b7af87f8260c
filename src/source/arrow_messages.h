// Arrow's messages: the columns, and the places of their buffers in a record batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope::source {

// One node of the tree of columns.
struct ArrowField {
  std::string name;
  std::uint8_t type = 0;  // number of the type in the file
  std::int32_t bits = 0;  // width of whole numbers
  bool is_signed = false;
  // Dictionary of a column that stores indices of values.
  struct Dictionary {
    std::int64_t id = 0;
    std::int32_t bits = 32;  // width of the indices
    bool is_signed = true;
  };
  std::optional<Dictionary> dictionary;
  std::vector<ArrowField> children;
};

struct ArrowBuffer {
  std::int64_t begin = 0, length = 0;  // place in the body after the message
};

struct ArrowBatch {
  std::int64_t rows = 0;
  std::vector<std::int64_t> rows_of_nodes,
      nulls_of_nodes;                       // counts of all fields, each before its children
  std::vector<ArrowBuffer> buffers;         // buffers of all fields, in the same order
  std::vector<std::int64_t> extra_buffers;  // data buffers of columns of views
  std::optional<std::int8_t> codec;
};

// The values of a dictionary.
struct ArrowDictionaryBatch {
  std::int64_t id = 0;
  bool is_more = false;  // true: adds to the earlier values; false: replaces them
  ArrowBatch batch;
};

struct ArrowMessage {
  Bytes body = 0;  // bytes after the message
  std::optional<std::vector<ArrowField>> columns;
  std::optional<ArrowBatch> batch;
  std::optional<ArrowDictionaryBatch> dictionary;  // all empty: a message without use here
};

// Place of a message in a file.
struct ArrowBlock {
  Bytes begin = 0, head = 0, body = 0;
};

struct ArrowFooter {
  std::vector<ArrowField> columns;
  std::vector<ArrowBlock> dictionaries, batches;
};

// Throw ValueError, which continues "PATH: ".
ArrowMessage parse_arrow_message(std::span<const std::byte> bytes);
ArrowFooter parse_arrow_footer(std::span<const std::byte> bytes);

}  // namespace loaderscope::source
