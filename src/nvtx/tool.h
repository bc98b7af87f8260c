// The other side of NVTX: a tool within this process, which receives the ranges of other libraries.
#pragma once

namespace loaderscope::nvtx::library {

struct Listener {
  const char* domain;              // the only observed domain
  void (*push)(const char* name);  // called by the thread that begins a range
  void (*pop)();
};

// Implementation of InitializeInjectionNvtx2, which a library calls at its first range: its
// argument and its result. 0: no ranges are reported. `listener` outlives the process; there is
// only one.
int listen(void* export_tables, const Listener& listener);

}  // namespace loaderscope::nvtx::library
