// Which of the delays that a run was to inject had a hook in the program.
#pragma once

#include <set>
#include <string>

#include "loaderscope/run_config.h"

namespace loaderscope::guest {

class Injected {
 public:
  // `config` outlives this.
  explicit Injected(const RunConfig& config);

  // One of config.inject, by its place.
  void executed(std::size_t number) {
    if (number < config_.declared.inject.value.size()) executed_.insert(number);
  }
  // A sentence on the first that was not; "" when there is none. `of_every_rank`: leave out those
  // of one rank, which may not have begun.
  std::string missing(bool of_every_rank) const;

 private:
  const RunConfig& config_;
  std::set<std::size_t> executed_;
};

}  // namespace loaderscope::guest
