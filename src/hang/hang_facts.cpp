#include "hang/hang_facts.h"

#include <algorithm>

namespace loaderscope::hang {

// In any order it gets whichever is made first: of those that are begun, one hangs.
const AwaitedBatch* RankFacts::next_batch() const {
  if (awaited.empty()) return nullptr;
  if (loader.in_order) return &awaited.front();
  const auto begun = std::find_if(awaited.begin(), awaited.end(), [](const AwaitedBatch& one) {
    return one.begun && !one.finished;
  });
  return begun == awaited.end() ? &awaited.front() : &*begun;
}

const WorkerFacts* RankFacts::maker() const {
  const AwaitedBatch* next = next_batch();
  if (next == nullptr) return nullptr;
  const auto found = std::find_if(workers.begin(), workers.end(), [&](const WorkerFacts& worker) {
    return worker.number == next->worker;
  });
  return found == workers.end() ? nullptr : &*found;
}

}  // namespace loaderscope::hang
