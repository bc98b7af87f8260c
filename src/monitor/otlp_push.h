// Sends values to a collector every few seconds, always the latest ones.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "loaderscope/units.h"
#include "monitor/addresses.h"

namespace loaderscope::monitor {

// Returns "" if the collector accepted `body`, else the reason. It ends at `until`, apart from the
// search for the host's address.
std::string post_metrics(const CollectorUrl& url, const std::string& body, Nanos until);

class OtlpPush {
 public:
  static constexpr Nanos kLastWait = kSecond;  // for the last request, at the end of the run

  struct Options {
    CollectorUrl url;
    Nanos interval = 10 * kSecond;
    // Called by the thread of this object, which may outlive it. It owns what it uses.
    std::function<std::string()> body;
    // Called once, by the thread of this object, with the reason of the first failure.
    std::function<void(const std::string&)> report_failure;
  };
  explicit OtlpPush(Options options);
  // Sends the last values, and waits at most kLastWait for that. A search for an address that takes
  // longer is left to end by itself.
  ~OtlpPush();
  OtlpPush(const OtlpPush&) = delete;
  OtlpPush& operator=(const OtlpPush&) = delete;

 private:
  struct State;
  static void push(State& state);

  std::shared_ptr<State> state_;  // shared with the thread, which may live longer
  std::thread thread_;
};

}  // namespace loaderscope::monitor
