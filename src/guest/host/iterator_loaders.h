// Loader of each iterator of a process. A job makes millions of iterators, most of them of the same
// few loaders. Each run of iterators with the same facts is kept once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "guest/protocol/loader_facts.h"

namespace loaderscope::guest {

class IteratorLoaders {
 public:
  // Adds facts in any order. The first facts of an iterator count.
  void add(std::int32_t iterator, const LoaderFacts& loader);
  // Returns null if the iterator is unknown.
  const LoaderFacts* of(std::int32_t iterator) const;
  // Returns true if the facts of the iterator were dropped to bound memory. The first iterators,
  // which may live long, and the last ones are kept.
  bool has_forgotten(std::int32_t iterator) const {
    return iterator < forgotten_before_ && of(iterator) == nullptr;
  }

 private:
  using Facts = std::shared_ptr<const LoaderFacts>;
  Facts shared(const LoaderFacts& loader);
  void put(std::int32_t iterator, const Facts& facts);
  void forget();

  std::map<std::int32_t, Facts> from_;  // facts until the next key; null: unknown
  std::int32_t end_ = 0;                // the first iterator after all known ones
  std::int32_t forgotten_before_ = 0;
  std::map<std::int32_t, Facts> last_facts_;  // last facts of each loader
};

}  // namespace loaderscope::guest
