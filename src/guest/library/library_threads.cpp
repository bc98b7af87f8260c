#include "guest/library/library_threads.h"

#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "base/thread_meter.h"
#include "guest/library/api.h"

namespace loaderscope::guest::library_threads {
namespace {

constexpr Nanos kShort = kMillisecond;
constexpr int kOneOf = 16;  // short batches

enum Total { kMaking, kOthers, kTotals };

struct Reading {
  Nanos at = 0, own = 0, process = 0;
};

std::array<std::atomic<std::int64_t>, kTotals> totals;
std::atomic<int> making = 0;          // threads that make a batch
std::atomic<bool> is_shared = false;  // several threads have made one since the measurement began
thread_local bool is_making = false;  // the calling thread
thread_local bool is_measured = false;
thread_local Reading begun;
thread_local int left_out = 0;  // batches since the last one that was measured
thread_local bool was_short = false;

Nanos process_cpu_now() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

Reading read() { return {monotonic_now(), thread_cpu_now(), process_cpu_now()}; }

}  // namespace

void begin() {
  const bool is_alone = is_making ? making == 1 : making.fetch_add(1) == 0;
  is_making = true;
  is_measured = is_alone && (!was_short || ++left_out >= kOneOf);
  if (!is_alone) is_shared = true;
  if (!is_measured) return;
  left_out = 0;
  is_shared = false;
  begun = read();
}

void end() {
  if (!is_making) return;
  is_making = false;
  --making;
  if (!is_measured) return;
  const Reading now = read();
  was_short = now.at - begun.at < kShort;
  if (is_shared) return;
  totals[kMaking] += now.at - begun.at;
  totals[kOthers] += (now.process - begun.process) - (now.own - begun.own);
}

void forget() {
  making = 0;
  is_making = false;
}

}  // namespace loaderscope::guest::library_threads

std::int64_t lsg_library_threads(int what) {
  using namespace loaderscope::guest::library_threads;
  return what >= 0 && what < kTotals ? totals[static_cast<std::size_t>(what)].load() : 0;
}
