// Batches that a program takes and discards before it begins to train, as after a resume in the
// middle of an epoch.
#pragma once

#include <cstdint>
#include <deque>

#include "loaderscope/units.h"

namespace loaderscope::guest {

class ResumeSkipDetector {
 public:
  // The program has finished with the last batch after `held`, and requests another.
  void done(Nanos held, Nanos asked);
  // Returns true if no batch so far was held as long as any real use takes.
  bool all_at_once() const;

  struct Skip {
    std::int64_t batches = 0;
    Nanos until = 0;  // request time of the first batch that the program trained with
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
