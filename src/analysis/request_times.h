// What a run counted of its requests to servers, and how much of their time is latency.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// On average; seconds and bytes of one request.
struct RequestTimes {
  double bytes = 0;
  double first_byte = 0;  // with those of others under way
  double all = 0;         // until the last byte
  double at_once = 0;     // of a reader
  double in_flight = 0;   // of all readers
  // To the first byte of those that no other ran beside; nothing: there were none.
  std::optional<double> alone;
  double counted_alone = 0;
  bool alone_is_mean = false;  // else the shortest
  // How the rate of each falls with the number under way; nothing: as many were all the time.
  std::optional<double> slowed_by_others;

  double latency() const { return alone.value_or(first_byte); }
  double queueing() const { return first_byte - latency(); }  // behind others, until the first byte
  // More at once bring hardly more bytes per second: what a request takes longer than its latency
  // is the larger part of it, and there are as many as keep the link busy with it.
  bool is_full() const { return looks_full() && slowed_by_others.value_or(1) >= kShared; }
  bool may_be_limited_each() const { return slowed_by_others.value_or(0) < kSurelyShared; }
  // It looks as if, and yet each has a rate of its own, that more at once do not change.
  bool is_limited_each() const { return looks_full() && !is_full(); }
  // What the link takes for one: for each of those that take turns on it, or behind its latency.
  double on_link() const { return std::min(all / in_flight, all - latency()); }
  double rate_of_each() const { return bytes / std::max(all - latency(), all / 1e6); }
  double rate() const { return in_flight * bytes / all; }  // bytes per second, of all readers

 private:
  static constexpr double kBusy = 0.8;
  static constexpr double kShared = 0.45, kSurelyShared = 0.7;  // of 0, a rate of its own, and 1
  bool looks_full() const {
    return 2 * latency() < all && in_flight * (all - latency()) >= kBusy * all;
  }
};

// Nothing where the run made no requests, or counted too little of them.
std::optional<RequestTimes> request_times(const RunRecord& record);
// The same of one host of a job, by its own metrics and the readers on it.
std::optional<RequestTimes> request_times(const std::vector<Metric>& metrics, double readers);

}  // namespace loaderscope
