// How much of the time of a measured program's processes our own code takes, as they say on their
// pages.
#pragma once

#include <optional>

#include "guest/host/guest_process.h"

namespace loaderscope::guest {

class OwnCost {
 public:
  // A window begins: what was known before is of no account.
  void begin() { trainers_ = workers_ = {}, begun_ = true; }
  // To be called often, for each member. `counts`: the window is not over.
  void look(GuestProcess& member, Nanos at, bool counts);

  // Of the time of the trainers, and of their workers while they live; nothing where there was no
  // window or there are no workers.
  std::optional<double> of_trainers() const { return trainers_.share(); }
  std::optional<double> of_workers() const { return workers_.share(); }

 private:
  struct Sum {
    Nanos own = 0, time = 0;
    std::optional<double> share() const {
      if (time <= 0) return std::nullopt;
      return static_cast<double>(own) / static_cast<double>(time);
    }
  };

  Sum trainers_, workers_;
  bool begun_ = false;
};

}  // namespace loaderscope::guest
