// The contents of a slot of host memory: the tensors of a batch, or the bytes that a device makes
// them of.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/arithmetic.h"
#include "loaderscope/units.h"

namespace loaderscope {

struct BatchLayout {
  static constexpr Bytes kAlignment = 64;  // samples of mixed slots begin at multiples

  Bytes slot_bytes = 0;
  // Mixed slots begin with one entry per sample. Their samples have different sizes.
  Bytes table_bytes = 0;  // 0: not mixed
  Bytes crop_bytes = 0;   // mixed: room that each sample can rely on

  bool is_mixed() const { return table_bytes > 0; }
  Bytes data_bytes() const { return slot_bytes - table_bytes; }
  static constexpr Bytes aligned(Bytes bytes) { return divide_up(bytes, kAlignment) * kAlignment; }
};

// Sizes of samples in a mixed slot, from some that were drawn.
struct DrawnSizes {
  Bytes mean = 0, largest = 0;
};

// A slot has room for a crop of each sample, and for a quarter more than the mean of the drawn
// sizes. Two of the largest fit in addition, for batches of few samples.
inline BatchLayout mixed_layout(std::int64_t samples, Bytes entry_bytes, Bytes crop_bytes,
                                const DrawnSizes& sizes) {
  BatchLayout layout;
  layout.table_bytes = BatchLayout::aligned(saturated_product(samples, entry_bytes));
  layout.crop_bytes = BatchLayout::aligned(crop_bytes);
  const Bytes each = std::max(layout.crop_bytes, BatchLayout::aligned(sizes.mean + sizes.mean / 4));
  const Bytes spare = 2 * BatchLayout::aligned(sizes.largest);
  layout.slot_bytes =
      saturated_sum(layout.table_bytes, saturated_sum(saturated_product(samples, each), spare));
  return layout;
}

}  // namespace loaderscope
