// Counts of the system calls and requests of a source's readers, and of their results. Call from
// any thread, and from any process forked from the creator.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/shared_memory.h"
#include "loaderscope/events.h"
#include "loaderscope/run_record.h"
#include "loaderscope/units.h"

namespace loaderscope::source {

class ReadCounts {
 public:
  ReadCounts() : counts_(place<Counts>(shared_)) {}

  // Counts an open for the current sample of the thread, or for `work`.
  void count_opened(WorkCounts& work = thread_counts) const {
    add(counts_->opened, 1);
    ++work.opened;
  }
  // Counts one system call or mapping, and its bytes.
  void count_request(Bytes bytes, WorkCounts& work = thread_counts) const {
    count_requests(1, bytes, work);
  }
  void count_requests(std::int64_t calls, Bytes bytes, WorkCounts& work = thread_counts) const {
    add(counts_->requests, calls);
    add(counts_->bytes_brought, bytes);
    work.requests += calls;
  }
  // Counts waits for the lock of a library that serves one reader at a time.
  void count_waited_for_lock(Nanos waited) const { add(counts_->waited_for_lock, waited); }
  void count_in_library(Nanos spent) const { add(counts_->in_library, spent); }
  double share_of_lock() const;  // share of the time in the library and before it
  void count_sample(Bytes bytes) const {
    add(counts_->samples, 1);
    add(counts_->bytes_of_samples, bytes);
  }
  // Corrects bytes that were counted as a sample and are none, or hold several.
  void count_no_sample(Bytes bytes) const {
    add(counts_->samples, -1);
    add(counts_->bytes_of_samples, -bytes);
  }
  void count_unpacked(Bytes packed, Bytes unpacked) const {
    add(counts_->packed, packed);
    add(counts_->unpacked, unpacked);
  }
  // Counts the begin and end of a request to a server. Between them, call was_alone() with the
  // result of count_asked().
  std::int64_t count_asked() const;
  void count_ended() const { add(counts_->under_way, -1); }
  // Returns true if no other request of the job was in flight since the request began.
  bool was_alone(std::int64_t asked) const;
  // Counts a complete response, with the seconds to its first byte and in total.
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
  // Counts the transfer `time` of a reader's requests after their latency, and the bytes received,
  // while `in_flight` requests of all readers were in flight.
  void count_among(std::int64_t in_flight, Nanos time, Bytes came) const;
  std::int64_t under_way() const;  // requests of all readers in flight
  // Returns the shortest time to a first byte so far.
  Nanos least_first_byte() const { return counts_->least_first_us.load() * 1000; }
  // Returns the slowdown of a request by others in flight, as the exponent of their number. 0: each
  // request has its own rate. 1: all share one rate. Nothing if the number in flight was nearly
  // constant.
  std::optional<double> slowed_by_others() const;
  // Counts a reader's wait for a request: until its first byte, and after it.
  void count_waited(Nanos first_byte, Nanos rest) const {
    add(counts_->waited_first_us, first_byte / 1000);
    add(counts_->waited_rest_us, rest / 1000);
  }
  double share_of_first_bytes() const;  // share of all waits for requests
  // time with a request in flight
  void count_busy(Nanos time) const { add(counts_->busy_us, time / 1000); }
  void count_retried(Nanos pause) const {
    add(counts_->retried, 1);
    add(counts_->paused_us, pause / 1000);
  }
  void count_throttled() const { add(counts_->throttled, 1); }  // 429, 503
  void count_timed_out() const { add(counts_->timed_out, 1); }
  void count_http2() const { add(counts_->http2, 1); }
  void count_failed() const { add(counts_->failed, 1); }
  void count_connections(std::int64_t more) const { add(counts_->connections, more); }
  // Counts samples of a stream without a member to decode. A stream discovers them on the way.
  void count_left_out(std::int64_t samples) const { add(counts_->left_out, samples); }
  std::int64_t left_out() const { return counts_->left_out.load(std::memory_order_relaxed); }
  std::vector<Metric> metrics() const;
  std::int64_t asked() const { return counts_->asked.load(std::memory_order_relaxed); }
  std::int64_t alone() const { return counts_->alone.load(std::memory_order_relaxed); }
  // Returns the shortest time to a first byte in seconds of the requests that were alone, after the
  // first `from` of them. Only the last ones are known. 0: none.
  double shortest_alone(std::int64_t from = 0) const;

 private:
  using Count = std::atomic<std::int64_t>;
  static constexpr int kUnderWayBits = 24;
  static constexpr std::int64_t kKnownAlone = 16;
  // buckets of the number in flight: 1, 1.4, 2, 2.8, ...
  static constexpr std::size_t kCrowds = 24;
  struct Counts {
    Count opened{0}, requests{0}, bytes_brought{0}, samples{0}, bytes_of_samples{0}, packed{0},
        unpacked{0}, left_out{0}, waited_for_lock{0}, in_library{0}, asked{0}, answered{0},
        bytes_answered{0}, first_byte_us{0}, answering_us{0}, busy_us{0}, retried{0}, paused_us{0},
        throttled{0}, timed_out{0}, failed{0}, connections{0}, waited_first_us{0},
        waited_rest_us{0}, alone{0}, alone_us{0}, http2{0}, least_first_us{0};
    std::array<Count, kKnownAlone> last_alone_us{};
    // request time in each bucket, and bytes received
    std::array<Count, kCrowds> crowd_us{}, crowd_bytes{};
    Count under_way{0};  // requests in flight; the bits from kUnderWayBits count all requests
  };
  void add_requests(std::vector<Metric>& to) const;
  static void add(Count& count, std::int64_t more) {
    count.fetch_add(more, std::memory_order_relaxed);
  }

  SharedMemory shared_;
  ArenaPtr<Counts> counts_;
};

// Details of the part of reading that waits for servers. Empty without requests.
std::vector<Detail> details_of_requests(const ReadCounts& counts);

}  // namespace loaderscope::source
