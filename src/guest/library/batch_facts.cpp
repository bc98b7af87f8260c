// The functions of api.h that tell facts: one by one, and those of a batch all at once.
#include <algorithm>

#include "guest/library/api.h"
#include "guest/library/library_threads.h"
#include "guest/library/this_thread.h"

namespace {

using namespace loaderscope;
using namespace loaderscope::guest;

void tell(Fact fact) {
  PageRings* rings = membership().rings();
  if (rings == nullptr) return;
  if (tells_delay(fact.kind)) fact.queued = delay_of_thread();
  fact.cpu = std::max<Nanos>(fact.cpu, 0);  // a thread may seem to have kept a core that was stolen
  rings->facts.push(fact);
}

}  // namespace

void lsg_fact(int kind, std::int32_t iterator, std::int32_t generation, std::int32_t worker,
              std::int64_t batch, std::int64_t begin, std::int64_t end, std::int64_t cpu,
              std::int64_t count, std::int64_t bytes) {
  tell({begin, end, cpu, 0, batch, count, bytes, iterator, generation, worker,
        static_cast<FactKind>(kind)});
}

void lsg_took(std::int64_t begin) {
  constexpr Nanos kThereAndBack = 300;
  membership().took(monotonic_now() - begin + kThereAndBack);
}

std::int64_t lsg_ask(std::int32_t iterator, std::int32_t generation) {
  if (membership().must_stop()) return 0;
  const Nanos now = monotonic_now();
  tell({.begin = now,
        .count = number_of_thread(),
        .iterator = iterator,
        .generation = generation,
        .kind = FactKind::ask});
  return now;
}

std::int64_t lsg_take(std::int32_t iterator, std::int32_t generation, std::int64_t batch,
                      std::int64_t count) {
  const Nanos now = monotonic_now();
  tell({.begin = now,
        .batch = batch,
        .count = count,
        .iterator = iterator,
        .generation = generation,
        .kind = FactKind::take});
  return now;
}

std::int64_t lsg_chosen(std::int32_t iterator, std::int32_t generation, std::int64_t begin,
                        std::int64_t cpu) {
  const Nanos now = monotonic_now();
  tell({.begin = begin,
        .end = now,
        .cpu = cpu_of_thread() - cpu,
        .iterator = iterator,
        .generation = generation,
        .kind = FactKind::chosen});
  return now;
}

int lsg_begin_batch(std::int32_t iterator, std::int32_t generation, std::int32_t worker,
                    std::int64_t batch, std::int64_t rested_since, std::int64_t begun, int is_own,
                    int is_whole) {
  const bool is_timed = membership().timing_wanted();
  Fact fact = {.begin = begun,
               .batch = batch,
               .iterator = iterator,
               .generation = generation,
               .worker = worker,
               .kind = FactKind::dispatched};
  if (is_own != 0) tell(fact);
  lsg_begin_work(iterator, generation, batch, is_timed ? 1 : 0);
  if (!is_timed || is_whole != 0) lsg_sample(StageStack::kWholeBatch);
  fact.begin = rested_since;
  fact.end = begun;
  fact.kind = FactKind::begun;
  tell(fact);
  library_threads::begin();
  return is_timed ? 1 : 0;
}
