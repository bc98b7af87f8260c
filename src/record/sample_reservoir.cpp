#include "record/sample_reservoir.h"

#include <cmath>
#include <limits>

namespace loaderscope {

SampleReservoir::SampleReservoir(std::int64_t capacity, std::uint64_t seed)
    : capacity_(static_cast<std::size_t>(capacity)), random_(seed) {
  restart();
}

void SampleReservoir::restart() {
  rows_.clear();
  seen_ = 0;
  next_kept_ = capacity_ == 0 ? std::numeric_limits<std::int64_t>::max() : 0;
  weight_ = 1;
}

double SampleReservoir::uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }

void SampleReservoir::draw_skip() {
  weight_ *= std::exp(std::log(uniform()) / static_cast<double>(capacity_));
  const double skip = std::floor(std::log(uniform()) / std::log1p(-weight_));
  next_kept_ = skip < 0x1p62 ? seen_ + static_cast<std::int64_t>(skip)
                             : std::numeric_limits<std::int64_t>::max();
}

void SampleReservoir::keep(const SampleRow& row) {
  if (rows_.size() < capacity_) {
    rows_.push_back(row);
    if (rows_.size() == capacity_) draw_skip();
    return;
  }
  rows_[static_cast<std::size_t>(random_() % capacity_)] = row;
  draw_skip();
}

}  // namespace loaderscope
