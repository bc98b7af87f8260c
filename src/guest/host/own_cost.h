// Share of a program's process time that the guest takes, as the pages report it.
#pragma once

#include <optional>

#include "guest/host/guest_process.h"

namespace loaderscope::guest {

class OwnCost {
 public:
  // Begins a window and discards earlier times.
  void begin() { trainers_ = workers_ = {}, begun_ = true; }
  // Call often, for each member. `counts` is true until the window is over.
  void look(GuestProcess& member, Nanos at, bool counts);

  // Share of the time of the trainers, and of their workers while they live. Nothing without a
  // window or without workers.
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
