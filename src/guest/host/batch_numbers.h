// What number the batches of one epoch have in the whole training.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace loaderscope::guest {

class BatchNumbers {
 public:
  // In the order in which an epoch gives its batches, whichever process speaks of one first.
  // `numbered`: how many batches of all epochs have a number. Nothing for one that was forgotten
  // long ago, or that is further ahead than any loader works.
  std::optional<std::int64_t> of(std::int64_t batch, std::int64_t& numbered);
  std::int64_t next() const { return next_; }  // the first batch that has no number yet

 private:
  // Batches and their numbers, where the two begin to go on by one: once, unless the batches of
  // another epoch come between.
  std::vector<std::pair<std::int64_t, std::int64_t>> runs_;
  std::int64_t next_ = 0;  // batch that has no number yet
};

}  // namespace loaderscope::guest
