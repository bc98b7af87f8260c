// The other side of NVTX: a tool within this process, which is told the ranges of others.
#pragma once

namespace loaderscope::nvtx::library {

struct Listener {
  const char* domain;              // whose ranges it is told, no others
  void (*push)(const char* name);  // by the thread that begins one
  void (*pop)();
};

// What a library asks its tool for at its first range, InitializeInjectionNvtx2: that function's
// argument and result. 0: nothing is told. `listener` outlives the process; there is one.
int listen(void* export_tables, const Listener& listener);

}  // namespace loaderscope::nvtx::library
