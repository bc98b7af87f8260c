// Comparison of a prediction with the measured run, and its reliability.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loaderscope/run_config.h"
#include "predict/fitted_model.h"

namespace loaderscope {

bool Prediction::has_busy() const {
  return device_kind(config.trainer.device.value) != DeviceKind::none && account.compute > 0;
}

double Prediction::busy() const {
  if (!has_busy() || account.window <= 0) return 0;
  return static_cast<double>(account.compute) / static_cast<double>(account.window);
}

double Prediction::gain() const {
  return base_samples_per_s > 0 ? samples_per_s / base_samples_per_s : 1;
}

std::optional<Cause> Prediction::removes() const {
  if (base_samples_per_s <= 0 || samples_per_s <= 0) return std::nullopt;
  std::optional<Cause> removed;
  double most = 0;
  for (const auto& word : Words<Cause>::table()) {
    const Cause cause = word.value;
    const double before =
        window_share(base_account.stall[cause], base_account) / base_samples_per_s;
    const double after = window_share(account.stall[cause], account) / samples_per_s;
    if (before - after <= most) continue;
    most = before - after;
    removed = cause;
  }
  return removed;
}

// False for a wide interval, or one that reaches from a gain to a loss: no advice follows from it.
bool Prediction::is_known() const {
  constexpr double kMaxOff = 0.3;
  if (is_unknown || may_be_off > kMaxOff) return false;
  return gain() <= 1 || gain() * (1 - may_be_off) >= 1;
}

ScaledPrediction scale_prediction(const Analysis& measured, const Prediction& prediction) {
  ScaledPrediction promise;
  promise.rate_before = measured.samples_per_s.mean;
  promise.rate_after = promise.rate_before * prediction.gain();
  if (!measured.has_busy || prediction.base_busy <= 0) return promise;
  promise.busy_before = measured.busy.mean;
  promise.busy_after =
      std::min(1.0, promise.busy_before * prediction.busy() / prediction.base_busy);
  return promise;
}

GoodnessOfFit goodness_of_fit(const Analysis& measured, const Prediction& fitted) {
  GoodnessOfFit fit;
  if (measured.samples_per_s.mean > 0) {
    fit.rate_error = fitted.samples_per_s / measured.samples_per_s.mean - 1;
  }
  const auto share = [](Nanos part, const Account& account) {
    return account.window > 0 ? static_cast<double>(part) / static_cast<double>(account.window) : 0;
  };
  const auto consider = [&](std::string_view name, Nanos predicted, Nanos recorded) {
    const double difference = share(predicted, fitted.account) - share(recorded, measured.account);
    if (!fit.worst_part.empty() && std::abs(difference) <= std::abs(fit.worst_share)) return;
    fit.worst_part = name;
    fit.worst_share = difference;
  };
  consider("compute", fitted.account.compute, measured.account.compute);
  for (const auto& word : Words<Cause>::table()) {
    consider(word.name, fitted.account.stall[word.value], measured.account.stall[word.value]);
  }
  return fit;
}

}  // namespace loaderscope
