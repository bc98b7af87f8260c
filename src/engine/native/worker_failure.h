// The failure of a worker process, left in shared memory for the process that measures.
#pragma once

#include <array>
#include <atomic>
#include <exception>

namespace loaderscope::native {

class WorkerFailure {
 public:
  void keep(const std::exception_ptr& failure);  // the first one counts
  bool kept() const { return kept_.load(std::memory_order_acquire); }
  [[noreturn]] void rethrow() const;  // the same type with the same words; once it is kept
  void clear();

 private:
  enum class Kind { memory, run, other };
  void write(Kind kind, const char* text);

  std::atomic<bool> taken_{false}, kept_{false};
  Kind kind_ = Kind::other;
  std::array<char, 4096> text_{};
};

}  // namespace loaderscope::native
