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
  std::size_t offsets = 0, values = 0;         // buffers
  bool has_large_offsets = false;
};
// Of the leaf with this number. Throws ValueError, as it continues "PATH: ".
LeafPlace place_in_batch(const std::vector<ArrowField>& fields, const ArrowBatch& batch,
                         std::size_t leaf);

}  // namespace loaderscope::source
