#include "engine/pipeline/measurement_window.h"

#include <algorithm>

namespace loaderscope {

MeasurementWindow::MeasurementWindow(const RunConfig& config, std::int64_t burst)
    : config_(config), burst_(std::max<std::int64_t>(burst, 1)) {}

bool MeasurementWindow::is_warmup(std::int64_t step, Nanos compute_end) {
  const WarmUp& warmup = config_.measure.warmup;
  if (measured_ == 0) {
    const bool warming =
        warmup.duration > 0 ? compute_end - first_ask_ <= warmup.duration : step < warmup.steps;
    if (warming) {
      previous_end_ = compute_end;
      return true;
    }
    window_begin_ = previous_end_;
    first_measured_ = step;
  }
  ++measured_;
  previous_end_ = compute_end;
  if (config_.measure.steps > 0) {
    ended_ = measured_ >= config_.measure.steps;
  } else if (config_.measure.duration > 0 &&
             (config_.measure.epochs == 0 || config_.measure.duration.given)) {
    ended_ = compute_end - window_begin_ >= config_.measure.duration && measured_ % burst_ == 0;
  }
  return false;
}

double MeasurementWindow::fraction() const {
  if (ended_) return 1;
  if (config_.measure.steps > 0)
    return static_cast<double>(measured_) / static_cast<double>(config_.measure.steps);
  if (config_.measure.duration == 0) return 0;  // runs until the input ends
  const auto elapsed = static_cast<double>(measured_ > 0 ? previous_end_ - window_begin_ : 0);
  return std::min(elapsed / static_cast<double>(config_.measure.duration.value), 1.0);
}

}  // namespace loaderscope
