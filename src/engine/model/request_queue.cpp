#include "engine/model/request_queue.h"

#include <algorithm>
#include <cmath>

#include "engine/model/world.h"

namespace loaderscope::model {

Nanos RequestQueue::next_ready(Nanos now, std::int64_t more_known, Nanos& link_free) {
  const std::int64_t wanted = request_of(sample_);
  const std::int64_t last_known = request_of(sample_ + more_known);
  ++sample_;
  for (;;) {
    drop_before(wanted, now);
    while (may_begin(now, last_known)) begin(now, link_free);
    if (first_ == wanted && ends_.front() <= now) return now;
    now = next_end(now);
  }
}

// Of those that are there; the ones before are of samples that were read, or parts of this one.
void RequestQueue::drop_before(std::int64_t wanted, Nanos now) {
  while (first_ < wanted && !ends_.empty() && ends_.front() <= now) {
    ends_.pop_front();
    ++first_;
  }
}

// That brings its last byte.
std::int64_t RequestQueue::request_of(std::int64_t sample) const {
  return std::llround(std::ceil(static_cast<double>(sample + 1) / requests_.samples)) - 1;
}

bool RequestQueue::may_begin(Nanos now, std::int64_t last_known) const {
  if (first_ + std::ssize(ends_) > last_known || std::ssize(ends_) >= requests_.held) return false;
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
  const double waiting = requests_.waiting;
  const auto transfer =
      std::llround(waiting * requests_.per_byte * static_cast<double>(requests_.bytes));
  Nanos first_byte = now + std::llround(waiting * requests_.latency);
  if (requests_.is_shared) first_byte = link_free = std::max(first_byte, link_free);
  check_time(first_byte);
  if (requests_.is_shared) link_free += transfer;
  ends_.push_back(first_byte + transfer);
}

Nanos RequestQueue::next_end(Nanos now) const {
  Nanos next = kNever;
  for (const Nanos end : ends_) {
    if (end > now) next = std::min(next, end);
  }
  return next;
}

}  // namespace loaderscope::model
