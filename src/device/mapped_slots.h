// Slots in anonymous memory, page-locked or not. Where no real device needs to know of it, `mlock`
// is all that page locking means.
#pragma once

#include "loaderscope/device.h"

namespace loaderscope {

enum class Locking {
  none,
  when_made,   // locked and touched before anything is written
  afterwards,  // ordinary memory that is locked once it exists
};

std::unique_ptr<HostSlots> make_mapped_slots(std::size_t count, Bytes slot_bytes, Locking locking);
// In memory that is there already, and stays when the slots are gone; as MemoryRow::wrap_existing.
std::unique_ptr<HostSlots> wrap_mapped_slots(std::byte* place, std::size_t count, Bytes slot_bytes,
                                             Locking locking);

}  // namespace loaderscope
