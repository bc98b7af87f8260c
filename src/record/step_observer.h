// Observer that receives the row of each step as soon as it is booked.
#pragma once

#include "record/recorder.h"

namespace loaderscope {

// Passed as FoldOptions::observer. The folding thread calls it.
class StepObserver : public EventObserver {
 public:
  virtual void booked(std::int32_t rank, const StepRow& row) = 0;
};

}  // namespace loaderscope
