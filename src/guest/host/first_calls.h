// What only the first call of a stage in a worker process takes, such as an import or opening a
// file: it belongs to the start of the worker.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "loaderscope/events.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

class FirstCalls {
 public:
  // Call with every span of every worker in the order of time. Cuts off the beginning of `span` as
  // a span of startup where it is far longer than the stage usually takes.
  std::optional<Span> take_start_of(std::int32_t worker, Span& span);

 private:
  struct Usual {
    std::int64_t count = 0;
    Nanos wall = 0;

    Nanos mean() const { return count > 0 ? wall / count : 0; }
  };

  PerStage<Usual> usual_{};                        // calls that were not the first ones
  std::map<std::int32_t, PerStage<bool>> called_;  // by worker, since its last start
};

}  // namespace loaderscope::guest
