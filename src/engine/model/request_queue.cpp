#include "engine/model/request_queue.h"

#include <algorithm>
#include <cmath>

#include "engine/model/simulated_machine.h"

namespace loaderscope::model {

void RequestQueue::ask(std::int64_t more_known) {
  wanted_ = request_index(sample_);
  last_known_ = request_index(sample_ + more_known);
  ++sample_;
}

Nanos RequestQueue::look(Nanos now, Nanos& link_free) {
  drop_used(now);
  while (may_begin(now)) {
    begin(now, link_free);
    drop_used(now);  // a cache has answered
  }
  return first_ == wanted_ && ends_.front() <= now ? now : next_end(now);
}

// Drops finished requests. Those before the wanted one belong to samples that were read, or are
// parts of this sample.
void RequestQueue::drop_used(Nanos now) {
  while (first_ < wanted_ && !ends_.empty() && ends_.front() <= now) {
    ends_.pop_front();
    ++first_;
  }
}

// Returns the request that brings the sample's last byte.
std::int64_t RequestQueue::request_index(std::int64_t sample) const {
  return std::llround(std::ceil(static_cast<double>(sample + 1) / requests_.samples)) - 1;
}

bool RequestQueue::may_begin(Nanos now) const {
  if (first_ + std::ssize(ends_) > last_known_ || std::ssize(ends_) >= requests_.held) return false;
  const auto under_way =
      std::count_if(ends_.begin(), ends_.end(), [now](Nanos end) { return end > now; });
  return under_way < requests_.depth;
}

void RequestQueue::begin(Nanos now, Nanos& link_free) {
  hits_ += requests_.hit_rate;
  if (hits_ >= 1) {
    hits_ -= 1;
    ends_.push_back(now);
    return;
  }
  const double bytes = requests_.waiting * static_cast<double>(requests_.bytes);
  const Nanos first_byte =
      now + std::llround(requests_.waiting * (requests_.latency + requests_.queueing));
  Nanos end = first_byte + std::llround(requests_.per_byte * bytes);
  if (requests_.link_per_byte > 0) {
    link_free = std::max(first_byte, link_free) + std::llround(requests_.link_per_byte * bytes);
    end = std::max(end, link_free);
  }
  check_time(end);
  ends_.push_back(end);
}

Nanos RequestQueue::next_end(Nanos now) const {
  Nanos next = kNever;
  for (const Nanos end : ends_) {
    if (end > now) next = std::min(next, end);
  }
  return next;
}

}  // namespace loaderscope::model
