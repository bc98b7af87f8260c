// The measured window as tools see it: an NVTX range "window" of the process, and the profiler's
// start and stop on a GPU, so that a capture can be limited to it.
#pragma once

#include <cstdint>

namespace loaderscope::nvtx {

// Used from one thread. Begin and end count once; what has begun ends with the object.
class Window {
 public:
  Window() = default;
  ~Window() { end(); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  void begin();
  void end();

 private:
  enum class State : std::uint8_t { before, open, over } state_ = State::before;
  std::uint64_t range_ = 0;
};

}  // namespace loaderscope::nvtx
