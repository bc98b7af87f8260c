#include "unit/device/pretend_augment.h"

#include <vector>

#include "device/cuda/augment_block.h"

namespace loaderscope::cuda {
namespace {

// Runs the threads of a block one after another, the last one first: a thread that depends on one
// before it, without a barrier between them, gives wrong bytes.
class HostBlock {
 public:
  template <class Body>
  void each(int n, const Body& body) const {
    for (int i = n - 1; i >= 0; --i) body(i);
  }
  template <class Body>
  std::int64_t sum(int n, const Body& body) const {
    std::int64_t total = 0;
    for (int i = n - 1; i >= 0; --i) total += body(i);
    return total;
  }
};

}  // namespace

void augment_on_host(const AugmentJob& job) {
  const HostBlock block;
  for (std::int32_t number = 0; number < job.count; ++number) {
    for (int row = 0; row < job.size; row += kBlockRows) {
      // Each block begins with values that are no weights.
      std::vector<std::int32_t> shared(static_cast<std::size_t>(shared_words(job.size)), -1);
      make_rows(block, job, number, row, shared.data());
    }
  }
  if (!job.has_steps) return;
  for (std::int32_t number = 0; number < job.count; ++number) follow_steps(block, job, number);
}

}  // namespace loaderscope::cuda
