// The leaves of the tree of an Arrow file's columns, and their places in a record batch.
#pragma once

#include <cstddef>
#include <vector>

#include "source/arrow_file.h"
#include "source/arrow_messages.h"

namespace loaderscope::source {

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

}  // namespace loaderscope::source
