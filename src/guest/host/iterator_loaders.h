// Which loader each iterator of a process belongs to. A job makes millions of iterators, most of
// them of one loader after another: each run of iterators with the same facts is kept once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "guest/protocol/loader_facts.h"

namespace loaderscope::guest {

class IteratorLoaders {
 public:
  // In any order. The first facts of an iterator count.
  void add(std::int32_t iterator, const LoaderFacts& loader);
  // Null if nothing is known of the iterator.
  const LoaderFacts* of(std::int32_t iterator) const;
  // Is it one of so many that it is known no more? The first iterators, which may live long, and
  // the last ones are kept.
  bool has_forgotten(std::int32_t iterator) const {
    return iterator < forgotten_before_ && of(iterator) == nullptr;
  }

 private:
  using Facts = std::shared_ptr<const LoaderFacts>;
  Facts shared(const LoaderFacts& loader);
  void put(std::int32_t iterator, const Facts& facts);
  void forget();

  std::map<std::int32_t, Facts> from_;  // each until the next one; null: nothing is known
  std::int32_t end_ = 0;                // the first iterator that comes after all of them
  std::int32_t forgotten_before_ = 0;
  std::map<std::int32_t, Facts> last_facts_;  // by loader
};

}  // namespace loaderscope::guest
