// Times of a run's requests to servers, and the share that is latency.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Means per request, in seconds and bytes.
struct RequestTimes {
  double bytes = 0;
  double first_byte = 0;  // time to the first byte, with other requests in flight
  double all = 0;         // time until the last byte
  double at_once = 0;     // requests in flight per reader
  double in_flight = 0;   // requests in flight of all readers
  // Time to the first byte of requests without others in flight. Empty if there were none.
  std::optional<double> alone;
  double counted_alone = 0;
  bool alone_is_mean = false;  // false: it is the shortest time
  // Drop of the rate of each request with the number in flight, 0 to 1. Empty if that number never
  // changed.
  std::optional<double> slowed_by_others;

  double latency() const { return alone.value_or(first_byte); }
  // Returns the wait for other requests until the first byte.
  double queueing() const { return first_byte - latency(); }
  // Returns true if more concurrent requests bring hardly more bytes per second. Most of a request
  // is then transfer, and enough requests are in flight to keep the link busy.
  bool is_full() const { return looks_full() && slowed_by_others.value_or(1) >= kShared; }
  bool may_be_limited_each() const { return slowed_by_others.value_or(0) < kSurelyShared; }
  // Returns true if the link looks full, but each request has its own limit that more requests do
  // not change.
  bool is_limited_each() const { return looks_full() && !is_full(); }
  // Returns the time of one request on the link, either shared in turn with others, or after its
  // latency.
  double on_link() const { return std::min(all / in_flight, all - latency()); }
  double rate_of_each() const { return bytes / std::max(all - latency(), all / 1e6); }
  double rate() const { return in_flight * bytes / all; }  // bytes per second, of all readers

 private:
  static constexpr double kBusy = 0.8;
  // Limits on a scale from 0, own rates, to 1, one shared rate.
  static constexpr double kShared = 0.45, kSurelyShared = 0.7;
  bool looks_full() const {
    return 2 * latency() < all && in_flight * (all - latency()) >= kBusy * all;
  }
};

// Returns nothing if the run made no requests, or too few of them.
std::optional<RequestTimes> request_times(const RunRecord& record);
// Does the same for one host of a job, from its own metrics and the readers on it.
std::optional<RequestTimes> request_times(const std::vector<Metric>& metrics, double readers);

}  // namespace loaderscope
