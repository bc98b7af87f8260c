// Cache of the last used open objects.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace loaderscope::source {

// Values by number, `most` at the most. Each reader has its own; it is not shared between threads.
template <class Value>
class LruCache {
 public:
  explicit LruCache(std::size_t most) : most_(most) {}

  // Returns the value, or makes it with `open()`. Only then the longest unused value is removed.
  // Valid until the next call. If `open` throws, all values are kept.
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
  void clear() { kept_.clear(); }  // also allowed within `open`

 private:
  std::size_t most_;
  std::vector<std::pair<std::int64_t, Value>> kept_;  // last used first
};

}  // namespace loaderscope::source
