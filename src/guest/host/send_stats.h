// Work of the workers that sends finished batches, besides writing them into a pipe.
#pragma once

#include <vector>

#include "guest/protocol/page.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

class SendStats {
 public:
  void take(const GuestEvent& fact);  // accepts any kind of fact
  void add(const SendStats& other);
  // Bytes per batch, and shares of the time to send it.
  std::vector<Metric> metrics() const;

 private:
  struct Part {
    double times = 0, bytes = 0, spent_s = 0;
    void add(const Part& other);
  };
  double sending_s_ = 0;
  Part pickled_;  // batches; the time includes that of `shared_`
  Part shared_;   // tensors copied into shared memory
};

}  // namespace loaderscope::guest
