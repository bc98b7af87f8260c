#include "engine/pipeline/queue_occupancy.h"

#include <algorithm>
#include <utility>

namespace loaderscope {

void QueueOccupancy::add(std::int64_t change, Nanos now) {
  occupied_time_ += static_cast<double>(items_) * static_cast<double>(now - counted_until_);
  counted_until_ = now;
  items_ += change;
  most_ = std::max(most_, items_);
}

QueueStats QueueOccupancy::read(std::string name, std::int64_t capacity, Nanos now) {
  add(0, now);
  const Nanos period = now - std::exchange(counted_since_, now);
  const double time = std::exchange(occupied_time_, 0);
  QueueStats stats;
  stats.name = std::move(name);
  stats.capacity = capacity;
  stats.mean_occupancy = period > 0 ? time / static_cast<double>(period) : 0;
  stats.max_occupancy = std::exchange(most_, items_);
  return stats;
}

}  // namespace loaderscope
