// Memory that a process shares with processes forked later. It has the same address in all of them,
// so pointers into it are valid everywhere. It has no name and no open file descriptor. It
// disappears with the last process that has it, however that process ends.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <utility>
#include <vector>

namespace loaderscope {

class SharedMemory : public std::pmr::memory_resource {
 public:
  SharedMemory() = default;
  ~SharedMemory() override;  // does not destroy the objects in it
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Ends allocation. Call it before the first fork, as only one process would see later memory.
  void close() { closed_ = true; }

 private:
  struct Mapping {
    std::byte* begin;
    std::size_t bytes;
  };

  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  // The destructor frees all memory.
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
  void map(std::size_t bytes);
  bool try_to_map(std::size_t length);  // sets errno if it returns false

  std::vector<Mapping> mappings_;
  std::size_t used_ = 0;  // bytes used of the last mapping
  bool closed_ = false;
};

// Objects in given memory: the program's own, or memory that processes share.
template <class T>
struct ArenaDeleter {
  std::pmr::memory_resource* memory = nullptr;
  void operator()(T* object) const {
    std::pmr::polymorphic_allocator<>(memory).delete_object(object);
  }
};

template <class T>
using ArenaPtr = std::unique_ptr<T, ArenaDeleter<T>>;

// `memory` must outlive the object.
template <class T, class... Arguments>
ArenaPtr<T> place(std::pmr::memory_resource& memory, Arguments&&... arguments) {
  std::pmr::polymorphic_allocator<> allocator(&memory);
  return ArenaPtr<T>(allocator.new_object<T>(std::forward<Arguments>(arguments)...),
                     ArenaDeleter<T>{&memory});
}

}  // namespace loaderscope
