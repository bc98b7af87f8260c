// operator new of the whole program: each allocation counts for its thread. What C libraries take
// by malloc does not count. A sanitizer has an operator new of its own, and then nothing counts.
#include <algorithm>
#include <cstdlib>
#include <new>

#include "loaderscope/events.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOADERSCOPE_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define LOADERSCOPE_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef LOADERSCOPE_COUNTS_ALLOCATIONS
#define LOADERSCOPE_COUNTS_ALLOCATIONS 1
#endif

#if LOADERSCOPE_COUNTS_ALLOCATIONS
namespace {

template <class Allocate>
void* allocated(const Allocate& allocate) {
  ++loaderscope::thread_counts.allocations;
  for (;;) {
    if (void* memory = allocate()) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

// The forms that are left out call these. Weak: a program that counts in its own way may have its
// own.
[[gnu::weak]] void* operator new(std::size_t bytes) {
  return allocated([bytes] { return std::malloc(std::max<std::size_t>(bytes, 1)); });
}
[[gnu::weak]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  const std::size_t whole = (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit;
  return allocated([=] { return whole < bytes ? nullptr : std::aligned_alloc(unit, whole); });
}
[[gnu::weak]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::weak]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::weak]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::weak]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
#endif
