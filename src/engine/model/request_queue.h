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

  // When the next sample is there, that is asked for at `now`; so many more are known of by then,
  // and asked for as soon as may be. `link_free`: when a link that all readers share has done what
  // it was asked for; it is moved on.
  Nanos next_ready(Nanos now, std::int64_t more_known, Nanos& link_free);

 private:
  std::int64_t request_of(std::int64_t sample) const;
  void drop_before(std::int64_t wanted, Nanos now);
  bool may_begin(Nanos now, std::int64_t last_known) const;
  void begin(Nanos now, Nanos& link_free);
  Nanos next_end(Nanos now) const;

  const FittedCosts::Requests& requests_;
  std::int64_t sample_ = 0;  // the next one
  std::int64_t first_ = 0;   // request whose end stands first in `ends_`
  std::deque<Nanos> ends_;   // of requests that are under way, or not used up
  double hits_ = 0;          // that a cache owes
};

}  // namespace loaderscope::model
