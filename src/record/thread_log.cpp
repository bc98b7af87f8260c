#include <bit>

#include "record/recorder.h"
#include "record/shared_ring.h"

namespace loaderscope {

void ThreadLog::Benefit::operator()(void* ring) const {
  memory->deallocate(ring, bytes, Ring::kAlignment);
}

ThreadLog::ThreadLog(std::int32_t rank, std::int32_t worker, std::size_t capacity,
                     std::pmr::memory_resource& memory)
    : rank_(rank), worker_(worker) {
  // The view lies in front of its ring.
  constexpr std::size_t kOfView = Ring::kAlignment;
  static_assert(sizeof(Ring) <= kOfView);
  const std::size_t entries = std::bit_ceil(capacity), bytes = kOfView + Ring::bytes_for(entries);
  own_ = std::unique_ptr<void, Benefit>(memory.allocate(bytes, Ring::kAlignment),
                                        Benefit{&memory, bytes});
  void* shared = static_cast<std::byte*>(own_.get()) + kOfView;
  Ring::clear(shared);
  ring_ = new (own_.get()) Ring(shared, entries);
}

void ThreadLog::push(const Entry& entry) { ring_->push(entry); }

std::int64_t ThreadLog::lost() const { return ring_->lost(); }

}  // namespace loaderscope
