// What each process of a job has told last, in bounded memory: of a job of hours thousands of
// workers have come and gone.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include "guest/host/message_contents.h"
#include "machine/process_stat.h"

namespace loaderscope::guest {

// `add(Told& to, const Told& more)` puts what two have told together.
template <class Told>
class ByProcess {
 public:
  void put(const ProcessId& process, Told told) {
    if (last_.size() >= kMost && !last_.contains(process)) fold_ended();
    if (last_.size() < kMost || last_.contains(process)) last_[process] = std::move(told);
  }
  Told all() const {
    Told sum = of_ended_;
    for (const auto& [process, told] : last_) add(sum, told);
    return sum;
  }

 private:
  static constexpr std::size_t kMost = 1024;

  // They tell no more.
  void fold_ended() {
    for (auto one = last_.begin(); one != last_.end();) {
      const bool is_there = is_running(one->first);
      if (!is_there) add(of_ended_, one->second);
      one = is_there ? std::next(one) : last_.erase(one);
    }
  }

  std::map<ProcessId, Told> last_;
  Told of_ended_{};
};

}  // namespace loaderscope::guest
