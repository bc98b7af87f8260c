// Functions of libraries that are loaded at run time.
#pragma once

#include <dlfcn.h>

namespace loaderscope {

// Returns false and sets null if the library lacks the name.
template <class Pointer>
bool find_symbol(Pointer& function, void* library, const char* name) {
  function = reinterpret_cast<Pointer>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace loaderscope
