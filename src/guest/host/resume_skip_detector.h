// Batches that a program takes and throws away before it begins to train, as one does that goes on
// within an epoch.
#pragma once

#include <cstdint>
#include <deque>

#include "loaderscope/units.h"

namespace loaderscope::guest {

class ResumeSkipDetector {
 public:
  // The program is done with the batch taken last, which it had for `held`, and asks for another.
  void done(Nanos held, Nanos asked);
  // None so far was held as long as anything takes that is done with a batch.
  bool all_at_once() const;

  struct Skip {
    std::int64_t batches = 0;
    Nanos until = 0;  // the first one that was trained with was asked for
  };
  // Before the optimizer's first step, which came when the program had held its batch for `held`.
  // Batches whose gradients that step has accumulated were held about as long as this one.
  Skip before(Nanos held) const;

 private:
  struct Done {
    Nanos held = 0, asked = 0;
  };
  std::deque<Done> last_;
  std::int64_t batches_ = 0, at_once_ = 0;
};

}  // namespace loaderscope::guest
