// The one seam to NVTX: nvtx.cpp where its headers were found, else no_nvtx.cpp. What
// stands behind connect() is called only after that returned true.
#pragma once

#include <cstdint>

#include "nvtx/ranges.h"

namespace loaderscope::nvtx::library {

bool built();    // with its headers
bool connect();  // true: a tool is attached
void push(std::size_t label, const Payload& payload);
void pop();
void mark(std::size_t label, const Payload& payload);
std::uint64_t start_range(std::size_t label);  // of the process, not of a thread
void end_range(std::uint64_t range);

std::uint64_t register_counter(const char* name);  // 0: the tool, or this NVTX, has no counters
void sample_counter(std::uint64_t counter, std::int64_t value);
void* register_name(const char* name);
void mark_value(void* name, std::int64_t value);

void name_thread(const char* name);

}  // namespace loaderscope::nvtx::library
