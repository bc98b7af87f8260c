// Built without the NVTX headers: no tool is ever attached.
#include "nvtx/library.h"

namespace loaderscope::nvtx::library {

bool built() { return false; }
bool connect() { return false; }
void push(std::size_t, const Payload&) {}
void pop() {}
void mark(std::size_t, const Payload&) {}
std::uint64_t start_range(std::size_t) { return 0; }
void end_range(std::uint64_t) {}
std::uint64_t register_counter(const char*) { return 0; }
void sample_counter(std::uint64_t, std::int64_t) {}
void* register_name(const char*) { return nullptr; }
void mark_value(void*, std::int64_t) {}
void name_thread(const char*) {}
int listen(void*, const Listener&) { return 0; }

}  // namespace loaderscope::nvtx::library
