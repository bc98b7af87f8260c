#include "experiment/prediction_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace loaderscope {
namespace {

constexpr std::size_t kQuoted = 20;
constexpr double kMaxError = 1e9;  // beyond it a line was not written by this program

// "predicted measured"
std::optional<double> error_of(std::string_view line) {
  std::array<double, 2> values{};
  const char* at = line.data();
  const char* const end = line.data() + line.size();
  for (double& value : values) {
    while (at != end && *at == ' ') ++at;
    const auto [next, failure] = std::from_chars(at, end, value);
    if (failure != std::errc() || !std::isfinite(value) || value <= 0) return std::nullopt;
    at = next;
  }
  if (at != end) return std::nullopt;
  const double error = std::abs(values[0] / values[1] - 1);
  return error < kMaxError ? std::optional(error) : std::nullopt;
}

}  // namespace

PredictionHistory::PredictionHistory(const std::string& folder) : lines_(folder, "predictions") {}

void PredictionHistory::add(double predicted, double measured) const {
  const std::string line = fmt::format("{:.6g} {:.6g}", predicted, measured);
  if (error_of(line)) lines_.add(line);
}

PastPredictions PredictionHistory::summary() const { return summary_of(lines_.text()); }

PastPredictions summary_of(std::string_view lines) {
  std::vector<double> errors;
  for_each_line(lines, [&](std::string_view line) {
    if (const auto error = error_of(line)) errors.push_back(*error);
  });
  if (errors.size() > kQuoted) errors.erase(errors.begin(), errors.end() - kQuoted);
  if (errors.empty()) return {};
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  return {static_cast<std::int64_t>(n), (errors[(n - 1) / 2] + errors[n / 2]) / 2, errors.back()};
}

}  // namespace loaderscope
