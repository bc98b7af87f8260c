// The functions of api.h that report facts: single facts, and all facts of a batch in one call.
#include <algorithm>
#include <utility>

#include "guest/library/api.h"
#include "guest/library/this_thread.h"

namespace {

using namespace loaderscope;
using namespace loaderscope::guest;

// The sampler's last choice in this thread. A sampler may ask another loader.
struct Choice {
  Nanos begun = 0;
  Nanos cpu = 0;    // CPU time of the thread at `begun`
  Nanos ended = 0;  // 0: a batch has begun since
};
thread_local Choice choice;

// The batch that the thread receives.
struct Receipt {
  Nanos cpu = 0;  // CPU time of the thread at the begin
  bool is_clocked = false;
};
thread_local Receipt receipt;

void push(GuestEvent fact) {
  PageRings* rings = membership().rings();
  if (rings == nullptr) return;
  fact.cpu = std::max<Nanos>(fact.cpu, 0);  // a thread may seem to have kept a core that was stolen
  rings->facts.push(fact);
}

void push_with_delay(GuestEvent fact) {
  if (membership().rings() == nullptr) return;
  if (has_delay(fact.kind)) fact.queued = delay_of_thread();
  push(fact);
}

}  // namespace

void lsg_fact(int kind, std::int32_t iterator, std::int32_t generation, std::int32_t worker,
              std::int64_t batch, std::int64_t begin, std::int64_t end, std::int64_t cpu,
              std::int64_t count, std::int64_t bytes) {
  push_with_delay({begin, end, cpu, 0, batch, count, bytes, iterator, generation, worker,
                   static_cast<GuestEventKind>(kind)});
}

std::int64_t lsg_begin_receiving(int is_clocked) {
  delay_of_thread();  // the delay before is not one of receiving
  if (is_clocked == 0) {
    receipt = {};
    return monotonic_now();
  }
  const CpuMeter::Reading at = reading_of_thread();
  receipt = {.cpu = at.cpu, .is_clocked = true};
  return at.at;
}

void lsg_received(std::int32_t iterator, std::int32_t generation, std::int64_t batch,
                  std::int64_t begin, std::int64_t waited, int receiver_pins) {
  const Nanos now = monotonic_now(), queued = delay_of_thread();
  const Nanos cpu =
      receipt.is_clocked ? cpu_of_thread() - receipt.cpu : now - begin - waited - queued;
  push({.begin = begin,
        .end = now,
        .cpu = cpu,
        .queued = queued,
        .batch = batch,
        .count = receiver_pins,
        .iterator = iterator,
        .generation = generation,
        .kind = GuestEventKind::received});
}

void lsg_took(std::int64_t begin) { membership().took(monotonic_now() - begin + kThereAndBack); }

std::int64_t lsg_ask(std::int32_t iterator, std::int32_t generation) {
  if (membership().must_stop()) return 0;
  const Nanos now = monotonic_now();
  push_with_delay({.begin = now,
                   .count = number_of_thread(),
                   .iterator = iterator,
                   .generation = generation,
                   .kind = GuestEventKind::ask});
  lsg_step(0);
  return now;
}

std::int64_t lsg_take(std::int32_t iterator, std::int32_t generation, std::int64_t batch,
                      std::int64_t count, std::int64_t asked) {
  const Nanos now = monotonic_now();
  push_with_delay({.begin = now,
                   .batch = batch,
                   .count = count,
                   .iterator = iterator,
                   .generation = generation,
                   .kind = GuestEventKind::take});
  lsg_step(1);
  membership().took(2 * kCallCost);
  return now - asked;
}

std::int64_t lsg_choosing(void) {
  const CpuMeter::Reading at = reading_of_thread();
  choice = {.begun = at.at, .cpu = at.cpu, .ended = 0};
  return at.at;
}

void lsg_chosen(std::int32_t iterator, std::int32_t generation, std::int64_t begin, int is_own) {
  const CpuMeter::Reading at = reading_of_thread();
  // A choice within another choice has lost the CPU time at its beginning.
  const Nanos cpu = choice.begun == begin ? at.cpu - choice.cpu : at.at - begin;
  push_with_delay({.begin = begin,
                   .end = at.at,
                   .cpu = cpu,
                   .iterator = iterator,
                   .generation = generation,
                   .kind = GuestEventKind::chosen});
  choice.ended = is_own != 0 ? at.at : 0;
  if (is_own != 0) lsg_rest(at.at, at.at);
  membership().took(2 * kCallCost);
}

int lsg_begin_batch(std::int32_t iterator, std::int32_t generation, std::int32_t worker,
                    std::int64_t batch, std::int64_t rested_since, std::int64_t begun, int is_own,
                    int is_whole) {
  const bool is_timed = membership().timing_wanted();
  if (is_own != 0) {
    const Nanos chosen = std::exchange(choice.ended, 0);
    rested_since = begun = chosen != 0 ? chosen : monotonic_now();
  }
  GuestEvent fact = {.begin = begun,
                     .batch = batch,
                     .iterator = iterator,
                     .generation = generation,
                     .worker = worker,
                     .kind = GuestEventKind::dispatched};
  if (is_own != 0) push_with_delay(fact);
  lsg_begin_work(iterator, generation, batch, is_timed ? 1 : 0);
  if (!is_timed || is_whole != 0) lsg_sample(StageStack::kWholeBatch);
  fact.begin = rested_since;
  fact.end = begun;
  fact.kind = GuestEventKind::begun;
  push_with_delay(fact);
  library_threads::begin();
  membership().took(kCallCost);
  return is_timed ? 1 : 0;
}
