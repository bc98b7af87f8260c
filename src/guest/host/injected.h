// Delays of a run that were injected: the ones whose hook ran in the program.
#pragma once

#include <set>
#include <string>

#include "loaderscope/run_config.h"

namespace loaderscope::guest {

class Injected {
 public:
  // `config` outlives this.
  explicit Injected(const RunConfig& config);

  // Marks a delay by its index in config.inject.
  void executed(std::size_t number) {
    if (number < config_.declared.inject.value.size()) executed_.insert(number);
  }
  // Returns a sentence about the first delay that did not run, or "" if all ran. `of_every_rank`
  // leaves out delays of a single rank, which may not have begun.
  std::string missing(bool of_every_rank) const;

 private:
  const RunConfig& config_;
  std::set<std::size_t> executed_;
};

}  // namespace loaderscope::guest
