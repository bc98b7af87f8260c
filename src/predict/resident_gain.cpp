// Loading a data set into GPU memory once, compared with the time that it saves in each epoch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loaderscope/predict.h"
#include "loaderscope/units.h"

namespace loaderscope {
namespace {

// "0.4 s", "20 s", "5 min"
std::string time_text(double seconds) {
  constexpr double kFewSeconds = 0.01, kTen = 9.95, kManySeconds = 100;
  constexpr double kMinute = 60, kManyMinutes = 100 * kMinute, kHour = 3600;
  if (seconds < kFewSeconds) return format_duration(std::llround(seconds * kSecond));
  if (seconds < kTen) return fmt::format("{:.2g} s", seconds);
  if (seconds < kManySeconds) return fmt::format("{:.0f} s", seconds);
  if (seconds < kManyMinutes) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.0f} h", seconds / kHour);
}

}  // namespace

std::optional<ResidentGain> resident_gain(const Prediction& prediction, double rate_before,
                                          double rate_after) {
  const std::int64_t samples = prediction.config.data.samples;
  if (prediction.held_bytes == 0 || samples <= 0 || rate_before <= 0 || rate_after <= 0)
    return std::nullopt;
  const auto epoch = static_cast<double>(samples);
  return ResidentGain{seconds(prediction.loading), epoch / rate_before - epoch / rate_after};
}

std::optional<std::int64_t> ResidentGain::epochs() const {
  constexpr double kMaxEpochs = 1e9, kRounding = 1e-6;
  const double epochs = saved_s > 0 ? load_s / saved_s : kMaxEpochs;
  if (epochs >= kMaxEpochs) return std::nullopt;
  return std::max<std::int64_t>(1, std::llround(std::ceil(epochs - kRounding)));
}

std::string ResidentGain::sentence() const {
  const std::optional<std::int64_t> after = epochs();
  if (!after)
    return fmt::format("never pays ({} to load, nothing saved per epoch)", time_text(load_s));
  return fmt::format("pays after {} ({} to load, {} saved per epoch)", plural(*after, "epoch"),
                     time_text(load_s), time_text(saved_s));
}

}  // namespace loaderscope
