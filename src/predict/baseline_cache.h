// Results of the unchanged run in the model, one per window. Changes with the same window share
// one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <mutex>

#include "loaderscope/predict.h"

namespace loaderscope::model {

class BaselineCache {
 public:
  // Returns the result over the window of `config`, and calls `run` if it is unknown. If several
  // threads want the same window, one of them runs it. Throws what that run threw.
  Prediction over(const RunConfig& config, const std::function<Prediction()>& run);

 private:
  // Steps, duration, warm-up in steps and in ns, epochs.
  using Window = std::array<std::int64_t, 5>;

  std::mutex mutex_;
  std::map<Window, std::shared_future<Prediction>> runs_;
};

}  // namespace loaderscope::model
