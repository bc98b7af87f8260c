// The requests of one reader, made ahead of the samples that it reads.
#pragma once

#include <cstdint>
#include <deque>

#include "engine/pipeline/fitted_costs.h"

namespace loaderscope::model {

class RequestQueue {
 public:
  // `requests` outlives it.
  explicit RequestQueue(const FittedCosts::Requests& requests) : requests_(requests) {}

  // Asks for the next sample. `more_known`: samples after it that are known by then. Their requests
  // begin as early as possible.
  void ask(std::int64_t more_known);
  // `now` where the sample asked for is there, else when to look again. `link_free`: when a link
  // that all readers share has done what it was asked for; it is moved on, so readers that share
  // one look in the order of their times.
  Nanos look(Nanos now, Nanos& link_free);

 private:
  std::int64_t request_index(std::int64_t sample) const;
  void drop_used(Nanos now);
  bool may_begin(Nanos now) const;
  void begin(Nanos now, Nanos& link_free);
  Nanos next_end(Nanos now) const;

  const FittedCosts::Requests& requests_;
  std::int64_t sample_ = 0;       // the next one to be asked for
  std::int64_t wanted_ = 0;       // request that brings the sample asked for
  std::int64_t last_known_ = -1;  // last sample whose request may begin
  std::int64_t first_ = 0;        // request whose end is the first of `ends_`
  std::deque<Nanos> ends_;        // ends of requests in flight, or not used up
  double hits_ = 0;               // hits that the cache owes
};

}  // namespace loaderscope::model
