// The number of items in a queue over time.
#pragma once

#include <cstdint>
#include <string>

#include "loaderscope/run_record.h"

namespace loaderscope {

class QueueOccupancy {
 public:
  explicit QueueOccupancy(Nanos since = 0) : counted_until_(since), counted_since_(since) {}

  void add(std::int64_t change, Nanos now);
  std::int64_t items() const { return items_; }
  // Since the last reading; begins a new period.
  QueueStats read(std::string name, std::int64_t capacity, Nanos now);

 private:
  Nanos counted_until_, counted_since_;
  std::int64_t items_ = 0, most_ = 0;
  double occupied_time_ = 0;  // items x ns
};

}  // namespace loaderscope
