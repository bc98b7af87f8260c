#include "guest/host/own_cost.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace loaderscope::guest {

// A page is also memory of the program: what it says is no more than the time that has passed.
void OwnCost::look(GuestProcess& member, Nanos at, bool counts) {
  if (member.page() == nullptr) return;
  const Nanos own = member.page()->own.load(std::memory_order_relaxed);
  const auto before = static_cast<std::uint64_t>(std::exchange(member.own_seen, own));
  const auto more = static_cast<Nanos>(static_cast<std::uint64_t>(own) - before);  // may wrap
  const Nanos since = std::exchange(member.own_seen_at, at);
  if (!begun_ || !counts || since == 0 || member.is_distrusted()) return;
  Sum& sum = member.is_worker ? workers_ : trainers_;
  sum.own += std::clamp<Nanos>(more, 0, at - since);
  sum.time += at - since;
}

}  // namespace loaderscope::guest
