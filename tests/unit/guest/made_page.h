// The page of a process of a job that there is not.
#pragma once

#include <cstring>
#include <memory>
#include <new>

#include "guest/protocol/page.h"

namespace loaderscope::guest {

struct DeletePage {
  void operator()(Page* page) const { ::operator delete (page, std::align_val_t{64}); }
};
using PagePointer = std::unique_ptr<Page, DeletePage>;

inline PagePointer make_page() {
  void* memory = ::operator new (Page::bytes(), std::align_val_t{64});
  std::memset(memory, 0, Page::bytes());
  return PagePointer(Page::make(memory));
}

}  // namespace loaderscope::guest
