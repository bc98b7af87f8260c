#include "device/cuda/device_arena.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace loaderscope::cuda {
namespace {

constexpr int kTaken = 0, kOutOfMemory = 2, kUnknownPlace = 1;  // numbers of CUDA's errors

int take_from_arena(void* arena, void** place, std::size_t bytes, void*) {
  *place = static_cast<DeviceArena*>(arena)->take(bytes);
  return *place != nullptr ? kTaken : kOutOfMemory;
}

int release_to_arena(void* arena, void* place, std::size_t, void*) {
  if (place == nullptr) return kTaken;  // free() also accepts it
  return static_cast<DeviceArena*>(arena)->release(place) ? kTaken : kUnknownPlace;
}

}  // namespace

DeviceArena::DeviceArena(void* block, std::size_t bytes)
    : block_(static_cast<std::byte*>(block)), bytes_(bytes / kAlignment * kAlignment) {
  if (bytes_ > 0) free_[0] = bytes_;
}

void* DeviceArena::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  // A piece of no bytes has an address of its own, too.
  const std::size_t size =
      bytes > bytes_ ? bytes
                     : std::max<std::size_t>((bytes + kAlignment - 1) / kAlignment, 1) * kAlignment;
  const auto fits = std::find_if(free_.begin(), free_.end(),
                                 [&](const auto& piece) { return piece.second >= size; });
  if (fits == free_.end()) {
    ++failures_;
    return nullptr;
  }
  const auto [begin, room] = *fits;
  free_.erase(fits);
  if (room > size) free_[begin + size] = room - size;
  taken_[begin] = size;
  used_ += size;
  peak_ = std::max(peak_, used_);
  return block_ + begin;
}

bool DeviceArena::release(void* place) {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(block_);
  const auto found = taken_.find(reinterpret_cast<std::uintptr_t>(place) - first);
  if (found == taken_.end()) return false;
  auto [begin, size] = *found;
  taken_.erase(found);
  used_ -= size;
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == begin + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += size;
      return true;
    }
  }
  free_[begin] = size;
  return true;
}

nvjpeg::Allocator DeviceArena::allocator() { return {take_from_arena, release_to_arena, this}; }

std::size_t DeviceArena::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

std::size_t DeviceArena::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

std::int64_t DeviceArena::failures() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

std::size_t DeviceArena::free_pieces() const {
  const std::lock_guard lock(mutex_);
  return free_.size();
}

}  // namespace loaderscope::cuda
