// Objects in given memory: the program's own, or memory that processes share.
#pragma once

#include <memory>
#include <memory_resource>
#include <utility>

namespace loaderscope {

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
