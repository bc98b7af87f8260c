#include <array>

#include "device/mapped_slots.h"
#include "loaderscope/device.h"

namespace loaderscope {
namespace {

template <Locking locking>
std::unique_ptr<HostSlots> make(std::size_t count, Bytes slot_bytes) {
  return make_mapped_slots(count, slot_bytes, locking);
}

template <Locking locking>
std::unique_ptr<HostSlots> wrap_existing(std::byte* place, std::size_t count, Bytes slot_bytes) {
  return wrap_mapped_slots(place, count, slot_bytes, locking);
}

MemoryRow row(MemoryMode mode, bool page_locked, decltype(MemoryRow::make) maker,
              decltype(MemoryRow::wrap_existing) wrapper) {
  for (const Word<MemoryMode>& word : Words<MemoryMode>::table()) {
    if (word.value == mode) return {{word.name, word.help}, mode, page_locked, maker, wrapper};
  }
  return {{"?", ""}, mode, page_locked, maker, wrapper};
}

}  // namespace

std::span<const MemoryRow> memory_table() {
  static const std::array<MemoryRow, 5> kTable = {
      row(MemoryMode::pageable, false, make<Locking::none>, wrap_existing<Locking::none>),
      row(MemoryMode::pin_thread, true, make<Locking::when_made>,
          wrap_existing<Locking::when_made>),
      row(MemoryMode::pinned_slots, true, make<Locking::when_made>,
          wrap_existing<Locking::when_made>),
      row(MemoryMode::registered, true, make<Locking::afterwards>,
          wrap_existing<Locking::afterwards>),
      // Only the driver makes such memory, for one process.
      row(MemoryMode::write_combined, true, make<Locking::when_made>, nullptr),
  };
  return kTable;
}

const MemoryRow& memory_row(MemoryMode mode) {
  for (const MemoryRow& row : memory_table()) {
    if (row.mode == mode) return row;
  }
  return memory_table().front();
}

}  // namespace loaderscope
