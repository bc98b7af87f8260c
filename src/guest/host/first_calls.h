// Extra time of the first call of a stage in a worker process, such as an import or opening a file.
// It belongs to the start of the worker.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "loaderscope/events.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

class FirstCalls {
 public:
  // Call with every span of every worker in the order of time. If `span` is far longer than its
  // stage usually takes, cuts off its beginning and returns that part as a span of startup.
  std::optional<Span> take_start_of(std::int32_t worker, Span& span);

 private:
  struct Usual {
    std::int64_t count = 0;
    Nanos wall = 0;

    Nanos mean() const { return count > 0 ? wall / count : 0; }
  };

  PerStage<Usual> usual_{};                        // calls that were not the first ones
  std::map<std::int32_t, PerStage<bool>> called_;  // stages since the last start, by worker
};

}  // namespace loaderscope::guest
