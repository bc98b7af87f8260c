// The only interface to NVTX: nvtx.cpp if its headers were found, else no_nvtx.cpp. Functions after
// connect() require that it has returned true.
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

}  // namespace loaderscope::nvtx::library
