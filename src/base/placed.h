// Objects in given memory: of the program's own, or of memory that processes share.
#pragma once

#include <memory>
#include <memory_resource>
#include <utility>

namespace loaderscope {

template <class T>
struct GoesBack {
  std::pmr::memory_resource* memory = nullptr;
  void operator()(T* object) const {
    std::pmr::polymorphic_allocator<>(memory).delete_object(object);
  }
};

template <class T>
using Placed = std::unique_ptr<T, GoesBack<T>>;

// `memory` must outlive the object.
template <class T, class... Arguments>
Placed<T> place(std::pmr::memory_resource& memory, Arguments&&... arguments) {
  std::pmr::polymorphic_allocator<> allocator(&memory);
  return Placed<T>(allocator.new_object<T>(std::forward<Arguments>(arguments)...),
                   GoesBack<T>{&memory});
}

}  // namespace loaderscope
