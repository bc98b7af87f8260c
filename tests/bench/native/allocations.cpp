#include "bench/native/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> by_loader{0}, by_collector{0};
thread_local bool is_collector = false;

void* count_and_allocate(std::size_t bytes) {
  (is_collector ? by_collector : by_loader).fetch_add(1, std::memory_order_relaxed);
  void* place = std::malloc(bytes == 0 ? 1 : bytes);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

}  // namespace

// The array forms call these; nothing here is aligned by more than malloc does.
void* operator new(std::size_t bytes) { return count_and_allocate(bytes); }
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }

namespace loaderscope::bench {
namespace {

struct Counted {
  std::int64_t loader, collector;
};

// The first 200 steps are kept in full, and the worst ones, and memory of the record grows by
// doubling: that is the warm-up of the collector.
constexpr std::int64_t kShort = 400, kLong = 900;

Counted count_of(const std::string& folder, std::int64_t steps) {
  Load load;
  load.folder = folder;
  load.steps = steps;
  load.most_steps = kLong;  // to open the data costs the same in both
  load.batch_size = 8;
  const Counted before{by_loader, by_collector};
  is_collector = true;
  run_loader(load);
  is_collector = false;
  return {by_loader - before.loader, by_collector - before.collector};
}

}  // namespace

Allocations count_allocations(const std::string& folder) {
  count_of(folder, kShort);
  const Counted few = count_of(folder, kShort), many = count_of(folder, kLong);
  const auto per_batch = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(b - a) / (kLong - kShort);
  };
  return {per_batch(few.loader, many.loader), per_batch(few.collector, many.collector)};
}

}  // namespace loaderscope::bench
