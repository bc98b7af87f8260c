// Of the tree of an Arrow file's columns the leaves, and where in a record batch each stands.
#pragma once

#include <cstddef>
#include <vector>

#include "source/arrow_file.h"
#include "source/arrow_messages.h"

namespace loaderscope::source {

std::vector<ArrowColumn> arrow_columns(const std::vector<ArrowField>& fields);

// Where the parts of one leaf stand among those of a record batch.
struct LeafPlace {
  std::vector<std::size_t> nodes, validities;  // of it and what stands above it
  std::size_t offsets = 0, values = 0;         // buffers; of views these, and the last of others
  bool has_large_offsets = false, holds_views = false;
};
// The field of the leaf with this number.
ArrowField field_of_leaf(const std::vector<ArrowField>& fields, std::size_t leaf);
// Of the leaf with this number. Throws ValueError, as it continues "PATH: ".
LeafPlace place_in_batch(const std::vector<ArrowField>& fields, const ArrowBatch& batch,
                         std::size_t leaf);

}  // namespace loaderscope::source
