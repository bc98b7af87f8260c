// What the readers of a source asked the kernel for, and what came: counted by any thread, and by
// any process that is forked from the one that made it.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/placed.h"
#include "base/shared_memory.h"
#include "base/work_counts.h"
#include "loaderscope/run_record.h"
#include "loaderscope/units.h"

namespace loaderscope::source {

class ReadCounts {
 public:
  ReadCounts() : counts_(place<Counts>(shared_)) {}

  // For the sample that the thread makes, or as `work` says.
  void count_opened(WorkCounts& work = thread_counts) const {
    add(counts_->opened, 1);
    ++work.opened;
  }
  // One call of the kernel's, or one mapping, and what it brought.
  void count_request(Bytes bytes, WorkCounts& work = thread_counts) const {
    count_requests(1, bytes, work);
  }
  void count_requests(std::int64_t calls, Bytes bytes, WorkCounts& work = thread_counts) const {
    add(counts_->requests, calls);
    add(counts_->bytes_brought, bytes);
    work.requests += calls;
  }
  // Of a library that lets in one reader at a time: what others waited for that.
  void count_waited_for_lock(Nanos waited) const { add(counts_->waited_for_lock, waited); }
  void count_in_library(Nanos spent) const { add(counts_->in_library, spent); }
  double share_of_lock() const;  // of the time in it, and before it
  void count_sample(Bytes bytes) const { add(counts_->bytes_of_samples, bytes); }
  void count_unpacked(Bytes packed, Bytes unpacked) const {
    add(counts_->packed, packed);
    add(counts_->unpacked, unpacked);
  }
  // Of a stream, which learns it on the way: samples without a member to decode.
  void count_left_out(std::int64_t samples) const { add(counts_->left_out, samples); }
  std::int64_t left_out() const { return counts_->left_out.load(std::memory_order_relaxed); }
  std::vector<Metric> metrics() const;

 private:
  using Count = std::atomic<std::int64_t>;
  struct Counts {
    Count opened{0}, requests{0}, bytes_brought{0}, bytes_of_samples{0}, packed{0}, unpacked{0},
        left_out{0}, waited_for_lock{0}, in_library{0};
  };
  static void add(Count& count, std::int64_t more) {
    count.fetch_add(more, std::memory_order_relaxed);
  }

  SharedMemory shared_;
  Placed<Counts> counts_;
};

}  // namespace loaderscope::source
