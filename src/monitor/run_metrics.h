// The values of a run that measures its loader from inside.
#pragma once

#include <deque>
#include <span>
#include <string_view>

#include "monitor/live_metric.h"
#include "record/running_account.h"

namespace loaderscope::monitor {

// States of the limit of a run: each cause of the account, `trainer` if the device hardly waits,
// and `unknown` before the first step.
std::span<const std::string_view> run_limits();
std::string_view find_limit(const RunningAccount& account);

// Adds the values of `account` so far. `recent` is its last minute.
void add_account_metrics(const RunningAccount& account, const RunningAccount& recent,
                         LiveSamples& samples);

class RecentAccount {
 public:
  static constexpr Nanos kTime = 60 * kSecond, kApart = 5 * kSecond;

  // Returns the last minute of `account`, or all before a minute has passed.
  RunningAccount add(Nanos now, const RunningAccount& account);

 private:
  struct Entry {
    Nanos at;
    RunningAccount account;
  };
  std::deque<Entry> earlier_;  // the first is the begin of the last minute
};

}  // namespace loaderscope::monitor
