#include "bench/native/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> loader_count{0}, collector_count{0};
thread_local bool is_collector = false;

void* count_and_allocate(std::size_t bytes) {
  (is_collector ? collector_count : loader_count).fetch_add(1, std::memory_order_relaxed);
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

Counted run_and_count(const std::string& folder, std::int64_t steps) {
  Load load;
  load.folder = folder;
  load.steps = steps;
  load.most_steps = kLong;  // equal, so that both runs open the same data
  load.batch_size = 8;
  const Counted before{loader_count, collector_count};
  is_collector = true;
  run_loader(load);
  is_collector = false;
  return {loader_count - before.loader, collector_count - before.collector};
}

}  // namespace

Allocations count_allocations(const std::string& folder) {
  run_and_count(folder, kShort);
  const Counted few = run_and_count(folder, kShort), many = run_and_count(folder, kLong);
  const auto per_batch = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(b - a) / (kLong - kShort);
  };
  return {per_batch(few.loader, many.loader), per_batch(few.collector, many.collector)};
}

}  // namespace loaderscope::bench
