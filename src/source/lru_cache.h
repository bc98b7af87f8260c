// What stays open of many objects: those that were used last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace loaderscope::source {

// Values by number, at most so many; a reader's own, not shared between threads.
template <class Value>
class LruCache {
 public:
  explicit LruCache(std::size_t most) : most_(most) {}

  // `open()` makes the value where it is not kept; only then the one that was not used for longest
  // goes. Valid until the next call. Throws what `open` throws, and keeps all then.
  template <class Open>
  Value& get(std::int64_t number, const Open& open) {
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const auto& one) { return one.first == number; });
    if (found != kept_.end()) {
      std::rotate(kept_.begin(), found, found + 1);
    } else {
      Value opened = open();
      if (kept_.size() == most_) kept_.pop_back();
      kept_.emplace(kept_.begin(), number, std::move(opened));
    }
    return kept_.front().second;
  }
  bool empty() const { return kept_.empty(); }
  void clear() { kept_.clear(); }  // also within `open`

 private:
  std::size_t most_;
  std::vector<std::pair<std::int64_t, Value>> kept_;  // the one used last comes first
};

}  // namespace loaderscope::source
