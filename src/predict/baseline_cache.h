// The run itself in the model, over one window after another: changes of the same window share one.
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
  // The result over the window of `config`, of `run` where it is not known yet. Of several threads
  // that want the same at once one runs it. Throws what that run threw.
  Prediction over(const RunConfig& config, const std::function<Prediction()>& run);

 private:
  // Steps, duration, warm-up in steps and in ns, epochs.
  using Window = std::array<std::int64_t, 5>;

  std::mutex mutex_;
  std::map<Window, std::shared_future<Prediction>> runs_;
};

}  // namespace loaderscope::model
