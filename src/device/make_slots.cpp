#include "loaderscope/device.h"

namespace loaderscope {

std::unique_ptr<HostSlots> Device::make_slots(MemoryMode mode, std::size_t count,
                                              Bytes slot_bytes) {
  return memory_row(mode).make(count, slot_bytes);
}

std::unique_ptr<HostSlots> Device::wrap_slots(MemoryMode mode, std::byte* place, std::size_t count,
                                              Bytes slot_bytes) {
  return memory_row(mode).wrap_existing(place, count, slot_bytes);
}

}  // namespace loaderscope
