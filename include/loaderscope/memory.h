// Host memory of batches: slots in one of the memory modes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/rows.h"
#include "loaderscope/units.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope {

// A number of slots of equal size, allocated at once and freed with this object.
class HostSlots {
 public:
  virtual ~HostSlots() = default;
  virtual std::byte* slot(std::size_t index) = 0;
  virtual Bytes locked_bytes() const = 0;  // page-locked, 0 for pageable memory
  // Why memory that should be page-locked is not, and what to do; empty when it is.
  virtual std::string fallback() const = 0;
};

inline constexpr Bytes kSlotAlignment =
    4096;  // slots begin on a page, as direct reads and devices want it
constexpr Bytes whole_pages(Bytes bytes) {
  return (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

struct MemoryRow {
  Row row;
  MemoryMode mode;
  bool page_locked;  // what the device copies from
  // Throws RunError when there is not enough memory.
  std::unique_ptr<HostSlots> (*make)(std::size_t count, Bytes slot_bytes);
  // The same in memory that worker processes share, which begins on a page and has whole_pages of
  // each slot; it outlives the slots. Null where that is not possible.
  std::unique_ptr<HostSlots> (*adopt)(std::byte* place, std::size_t count, Bytes slot_bytes);
};

// The memory that the device copies from, per mode; with `pin-thread` workers write into `pageable`
// slots first.
std::span<const MemoryRow> memory_table();  // src/device/memory_modes.cpp
const MemoryRow& memory_row(MemoryMode mode);

}  // namespace loaderscope
