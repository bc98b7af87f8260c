// The only interface to NVTX: library.cpp and tool.cpp if its headers were found, else
// no_library.cpp. Functions after connect() require that it has returned true.
#pragma once

#include <cstdint>

#include "nvtx/ranges.h"

namespace loaderscope::nvtx::library {

bool built();    // true: built with NVTX's headers
bool connect();  // true: a tool is attached
void push(std::size_t label, const Payload& payload);
void pop();
void mark(std::size_t label, const Payload& payload);
std::uint64_t start_range(std::size_t label);  // range of the process, not of a thread
void end_range(std::uint64_t range);

std::uint64_t register_counter(const char* name);  // 0: the tool, or this NVTX, has no counters
void sample_counter(std::uint64_t counter, std::int64_t value);
void* register_name(const char* name);
void mark_value(void* name, std::int64_t value);

void name_thread(const char* name);

// The other side of NVTX: a tool within this process, which receives the ranges of other libraries.
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
