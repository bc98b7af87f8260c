// When the user is to be told that no loader has been seen yet: a program may take long before its
// training begins, so it is not ended for that, and it is said again at longer and longer
// intervals.
#pragma once

#include <string>

#include "loaderscope/run_config.h"
#include "loaderscope/units.h"

namespace loaderscope::guest {

class NoLoaderWarning {
 public:
  // `config` outlives this.
  explicit NoLoaderWarning(const RunConfig& config);

  // To be called often, while no batch has been asked for; `since`: the program was started. True:
  // it is to be said now.
  bool is_due(Nanos since);
  // A sentence about `program`. `pythons`: that were started in it so far; `why`: a loader that was
  // seen is not measured, "" where there is none.
  std::string sentence(const std::string& program, Nanos since, int pythons,
                       const std::string& why) const;

 private:
  const RunConfig& config_;
  Nanos next_;
};

}  // namespace loaderscope::guest
