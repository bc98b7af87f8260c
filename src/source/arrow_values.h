// Where in a file the values of a column lie: of a record batch, and of a dictionary that several
// of these share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "loaderscope/source.h"
#include "source/arrow_columns.h"
#include "source/arrow_file.h"
#include "source/arrow_messages.h"
#include "source/store.h"

namespace loaderscope::source {

// Throws ValueError, as it continues "PATH: ", like all below.
std::vector<std::byte> arrow_bytes_at(StoredObject& file, Bytes begin, Bytes length);

// Reads of one record batch what says where its values lie. All of it outlives this.
class ArrowBatchReading {
 public:
  // `body`: where the batch lies. `largest`: what may be unpacked at once.
  ArrowBatchReading(StoredObject& file, const ArrowBatch& batch, const Extent& body, Bytes largest);

  // `width`: of numbers; 0: of bytes or text.
  ArrowValues values(const LeafPlace& place, std::size_t width);
  // What a column in a dictionary holds: of each row a number, -1 where it is null.
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
  // Of a column's field.
  ArrowDictionary(const ArrowField& field, Bytes largest);
  void add(StoredObject& file, const Extent& body, const ArrowDictionaryBatch& more);
  // Those that a record batch names.
  ArrowValues values_of(ArrowBatchReading& reading, const LeafPlace& place) const;

 private:
  ArrowField::Dictionary as_;
  std::vector<ArrowField> held_;  // one field, of the values
  Bytes largest_;
  // Its places are those of the file where they are not packed.
  ArrowValues values_;
};

}  // namespace loaderscope::source
