#include "guest/host/iterator_loaders.h"

#include <algorithm>
#include <iterator>

namespace loaderscope::guest {

IteratorLoaders::Facts IteratorLoaders::shared(const LoaderFacts& loader) {
  constexpr std::size_t kMaxLoaders = 1024;
  if (last_facts_.size() >= kMaxLoaders && !last_facts_.contains(loader.number))
    last_facts_.clear();
  Facts& last = last_facts_[loader.number];
  if (last == nullptr || *last != loader) last = std::make_shared<const LoaderFacts>(loader);
  return last;
}

void IteratorLoaders::add(std::int32_t iterator, const LoaderFacts& loader) {
  if (iterator < 0 || of(iterator) != nullptr || has_forgotten(iterator)) return;
  put(iterator, shared(loader));
  forget();
}

void IteratorLoaders::put(std::int32_t iterator, const Facts& facts) {
  if (iterator > end_) from_.try_emplace(end_, nullptr);
  if (iterator + 1 < end_) {  // the iterator was an unknown one between others
    const Facts after = std::prev(from_.upper_bound(iterator + 1))->second;
    from_.try_emplace(iterator + 1, after);
  }
  end_ = std::max(end_, iterator + 1);
  const auto next = from_.lower_bound(iterator);
  const bool goes_on = next != from_.begin() && std::prev(next)->second == facts;
  if (goes_on) {
    from_.erase(iterator);
  } else {
    from_[iterator] = facts;
  }
}

void IteratorLoaders::forget() {
  constexpr std::ptrdiff_t kMax = std::ptrdiff_t{1} << 16;
  if (std::ssize(from_) < kMax) return;
  const auto first = std::next(from_.begin(), kMax / 4);
  const auto last = std::next(first, kMax / 2);
  const std::int32_t begin = first->first;
  forgotten_before_ = last->first;
  from_.erase(first, last);
  from_[begin] = nullptr;
}

const LoaderFacts* IteratorLoaders::of(std::int32_t iterator) const {
  if (iterator < 0 || iterator >= end_) return nullptr;
  const auto next = from_.upper_bound(iterator);
  return next == from_.begin() ? nullptr : std::prev(next)->second.get();
}

}  // namespace loaderscope::guest
