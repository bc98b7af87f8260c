// CPU time of a program and of all that it has started, while it is measured: also that of what
// cannot be looked into.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>

#include "loaderscope/units.h"

namespace loaderscope::guest {

class TreeCpu {
 public:
  explicit TreeCpu(pid_t root) : root_(root) {}

  // Now and then, and soon after the window has begun and ended.
  void look(bool window_has_begun, bool window_has_ended);
  // Of the window so far; nothing before it has begun.
  std::optional<double> seconds() const;

 private:
  Nanos read();

  pid_t root_;
  Nanos last_look_ = 0;
  std::map<pid_t, Nanos> used_;  // by process; of one that has ended what was last known
  std::optional<Nanos> at_begin_;
  Nanos now_ = 0;
  bool ended_ = false;
};

}  // namespace loaderscope::guest
