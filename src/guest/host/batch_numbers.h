// Numbers of the batches of one epoch within the whole training.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace loaderscope::guest {

class BatchNumbers {
 public:
  // Returns the number of `batch`. Numbers follow the order of the epoch, whichever process reports
  // a batch first. `numbered` is the number of batches of all epochs that have a number. Returns
  // nothing for a batch that was forgotten long ago, or that is further ahead than any loader
  // works.
  std::optional<std::int64_t> of(std::int64_t batch, std::int64_t& numbered);
  std::int64_t next() const { return next_; }  // the first batch without a number

 private:
  // First batch of each run of consecutive numbers, and its number. One run suffices unless batches
  // of another epoch come between.
  std::vector<std::pair<std::int64_t, std::int64_t>> runs_;
  std::int64_t next_ = 0;  // the first batch without a number
};

}  // namespace loaderscope::guest
