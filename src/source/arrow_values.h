// Places of a column's values in a file: in a record batch, and in a dictionary that several
// batches share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "loaderscope/source.h"
#include "source/arrow_file.h"
#include "source/arrow_messages.h"
#include "source/store.h"

namespace loaderscope::source {

// The leaves of the tree of an Arrow file's columns, and their places in a record batch.
std::vector<ArrowColumn> arrow_columns(const std::vector<ArrowField>& fields);

// Places of the parts of one leaf among those of a record batch.
struct LeafPlace {
  std::vector<std::size_t> nodes, validities;  // nodes and bitmaps of the leaf and its ancestors
  // buffers; for views, the view buffer and the last data buffer
  std::size_t offsets = 0, values = 0;
  bool has_large_offsets = false, holds_views = false;
};
// The field of the leaf with this number.
ArrowField field_of_leaf(const std::vector<ArrowField>& fields, std::size_t leaf);
// Returns the places of a leaf. Throws ValueError, which continues "PATH: ".
LeafPlace place_in_batch(const std::vector<ArrowField>& fields, const ArrowBatch& batch,
                         std::size_t leaf);

// Throws ValueError, which continues "PATH: ", like all functions below.
std::vector<std::byte> arrow_bytes_at(StoredObject& file, Bytes begin, Bytes length);

// Reads the places of the values of one record batch. All arguments outlive it.
class ArrowBatchReading {
 public:
  // `body` is the place of the batch. `largest` limits the bytes unpacked at once.
  ArrowBatchReading(StoredObject& file, const ArrowBatch& batch, const Extent& body, Bytes largest);

  // `width`: bytes of each number; 0: bytes or text.
  ArrowValues values(const LeafPlace& place, std::size_t width);
  // Returns the dictionary index of each row, or -1 if it is null.
  std::vector<std::int64_t> numbers(const LeafPlace& place, const ArrowField::Dictionary& as);

 private:
  const ArrowBuffer& checked(std::size_t number) const;
  std::vector<std::byte> content(std::size_t number, Bytes wanted);
  void take_stored(const LeafPlace& place, std::size_t width, ArrowValues& values);
  void take_views(const LeafPlace& place, ArrowValues& values);
  ArrowPlace place_of_view(const LeafPlace& place, std::span<const std::byte> view, Bytes at) const;
  std::vector<std::int64_t> offsets(const LeafPlace& place, Bytes room);
  std::vector<bool> validity(const LeafPlace& place);

  StoredObject& file_;
  const ArrowBatch& batch_;
  Bytes body_, body_bytes_, largest_;
};

// The values of a dictionary, as far as the file was read.
class ArrowDictionary {
 public:
  // `field` is the field of the column.
  ArrowDictionary(const ArrowField& field, Bytes largest);
  void add(StoredObject& file, const Extent& body, const ArrowDictionaryBatch& more);
  // Returns the values that a record batch refers to.
  ArrowValues dictionary_values(ArrowBatchReading& reading, const LeafPlace& place) const;

 private:
  ArrowField::Dictionary as_;
  std::vector<ArrowField> held_;  // one field, of the values
  Bytes largest_;
  // Values with their places in the file, unless they are packed.
  ArrowValues values_;
};

}  // namespace loaderscope::source
