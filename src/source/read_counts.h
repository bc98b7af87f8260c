// What the readers of a source asked the kernel for, and what came: counted by any thread, and by
// any process that is forked from the one that made it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/arena_ptr.h"
#include "base/shared_memory.h"
#include "loaderscope/events.h"
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
  void count_sample(Bytes bytes) const {
    add(counts_->samples, 1);
    add(counts_->bytes_of_samples, bytes);
  }
  // Of bytes that were counted as a sample and hold one, or several.
  void count_no_sample(Bytes bytes) const {
    add(counts_->samples, -1);
    add(counts_->bytes_of_samples, -bytes);
  }
  void count_unpacked(Bytes packed, Bytes unpacked) const {
    add(counts_->packed, packed);
    add(counts_->unpacked, unpacked);
  }
  // Of servers: a request goes out, and is no longer under way; between the two was_alone() is
  // asked with what the first returned.
  std::int64_t count_asked() const;
  void count_ended() const { add(counts_->under_way, -1); }
  // No other request of the job was under way since it went out.
  bool was_alone(std::int64_t asked) const;
  // One has brought what it should, after so many seconds to its first byte and in all.
  void count_answered(Bytes bytes, double first_byte, double all) const {
    add(counts_->answered, 1);
    add(counts_->bytes_answered, bytes);
    add(counts_->first_byte_us, static_cast<std::int64_t>(first_byte * 1e6));
    add(counts_->answering_us, static_cast<std::int64_t>(all * 1e6));
    const auto first_us = static_cast<std::int64_t>(first_byte * 1e6);
    std::int64_t least = counts_->least_first_us.load();
    while (first_us > 0 && (least == 0 || first_us < least) &&
           !counts_->least_first_us.compare_exchange_weak(least, first_us)) {
    }
  }
  void count_alone(double first_byte) const;
  // Requests of a reader took so long, each behind its latency, among so many of all readers, and
  // these bytes of theirs came.
  void count_among(std::int64_t of_all, Nanos time, Bytes came) const;
  std::int64_t under_way() const;  // of all readers
  // The shortest time to a first byte of all requests so far.
  Nanos least_first_byte() const { return counts_->least_first_us.load() * 1000; }
  // By how much slower the bytes of a request come with more of them under way, as the power of
  // their number: 0: not at all, each has a rate of its own; 1: they share what there is. Nothing
  // where as many were under way nearly all the time.
  std::optional<double> slowed_by_others() const;
  // What a reader waited for a request: until its first byte came, and behind that.
  void count_waited(Nanos first_byte, Nanos rest) const {
    add(counts_->waited_first_us, first_byte / 1000);
    add(counts_->waited_rest_us, rest / 1000);
  }
  double share_of_first_bytes() const;  // of what was waited for requests
  void count_busy(Nanos time) const { add(counts_->busy_us, time / 1000); }  // with any under way
  void count_retried(Nanos pause) const {
    add(counts_->retried, 1);
    add(counts_->paused_us, pause / 1000);
  }
  void count_throttled() const { add(counts_->throttled, 1); }  // 429, 503
  void count_timed_out() const { add(counts_->timed_out, 1); }
  void count_http2() const { add(counts_->http2, 1); }
  void count_failed() const { add(counts_->failed, 1); }
  void count_connections(std::int64_t more) const { add(counts_->connections, more); }
  // Of a stream, which learns it on the way: samples without a member to decode.
  void count_left_out(std::int64_t samples) const { add(counts_->left_out, samples); }
  std::int64_t left_out() const { return counts_->left_out.load(std::memory_order_relaxed); }
  std::vector<Metric> metrics() const;
  std::int64_t asked() const { return counts_->asked.load(std::memory_order_relaxed); }
  std::int64_t alone() const { return counts_->alone.load(std::memory_order_relaxed); }
  // Of the requests behind the first `from` that were alone, of which the last ones are known: the
  // shortest time to a first byte; seconds. 0: there is none.
  double shortest_alone(std::int64_t from = 0) const;

 private:
  using Count = std::atomic<std::int64_t>;
  static constexpr int kUnderWayBits = 24;
  static constexpr std::int64_t kKnownAlone = 16;
  static constexpr std::size_t kCrowds = 24;  // numbers under way: 1, 1.4, 2, 2.8, ...
  struct Counts {
    Count opened{0}, requests{0}, bytes_brought{0}, samples{0}, bytes_of_samples{0}, packed{0},
        unpacked{0}, left_out{0}, waited_for_lock{0}, in_library{0}, asked{0}, answered{0},
        bytes_answered{0}, first_byte_us{0}, answering_us{0}, busy_us{0}, retried{0}, paused_us{0},
        throttled{0}, timed_out{0}, failed{0}, connections{0}, waited_first_us{0},
        waited_rest_us{0}, alone{0}, alone_us{0}, http2{0}, least_first_us{0};
    std::array<Count, kKnownAlone> last_alone_us{};
    std::array<Count, kCrowds> crowd_us{}, crowd_bytes{};  // of each request, and what it got
    Count under_way{0};  // requests; those that went out so far stand above kUnderWayBits
  };
  void add_requests(std::vector<Metric>& to) const;
  static void add(Count& count, std::int64_t more) {
    count.fetch_add(more, std::memory_order_relaxed);
  }

  SharedMemory shared_;
  ArenaPtr<Counts> counts_;
};

// Of reading, the part that is waiting for servers to answer; none where none was asked.
std::vector<Detail> details_of_requests(const ReadCounts& counts);

}  // namespace loaderscope::source
