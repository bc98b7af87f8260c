// Observer that receives the row of each step as soon as it is booked.
#pragma once

#include "record/recorder.h"

namespace loaderscope {

// Handed in as FoldOptions::observer. Called by the thread that folds.
class StepObserver : public EventObserver {
 public:
  virtual void booked(std::int32_t rank, const StepRow& row) = 0;
};

}  // namespace loaderscope
