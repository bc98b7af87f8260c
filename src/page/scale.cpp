#include "page/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "loaderscope/units.h"

namespace loaderscope::page {
namespace {

// 1, 2 or 5 times a power of ten: about as many steps of it as are wanted.
double round_step(double length, int about) {
  const double rough = length / std::max(1, about);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (power * times >= rough * (1 - 1e-9)) return power * times;
  }
  return power * 10;
}

std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size >= 999.5 && size < 1e15) return format_count(std::llround(value));
  return fmt::format("{:.3g}", value);
}

std::string spelled_seconds(double value) {
  constexpr std::array<std::pair<double, std::string_view>, 4> kUnits = {
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  if (value == 0) return "0";
  for (const auto& [size, name] : kUnits) {
    if (std::abs(value) >= size * 0.9995)
      return three_digits(value / size) + " " + std::string(name);
  }
  return three_digits(value * 1e9) + " ns";
}

}  // namespace

std::string spelled(Unit unit, double value) {
  switch (unit) {
    case Unit::seconds:
      return spelled_seconds(value);
    case Unit::share:
      return three_digits(100 * value) + " %";
    case Unit::bytes:
      return format_size(value);
    case Unit::number:
      break;
  }
  return three_digits(value);
}

std::string AxisUnit::spelled(double value) const {
  if (name.empty()) return three_digits(value);
  if (value == 0 && name != "%") return "0";
  return three_digits(value / size) + " " + name;
}

AxisUnit Scale::axis_unit() const {
  using Units = std::span<const std::pair<double, std::string_view>>;
  static constexpr std::pair<double, std::string_view> kSeconds[] = {
      {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  static constexpr std::pair<double, std::string_view> kBytes[] = {
      {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}, {1, "B"}};
  if (unit == Unit::number) return {};
  if (unit == Unit::share) return {0.01, "%"};
  const Units units = unit == Unit::seconds ? Units(kSeconds) : Units(kBytes);
  // The middle of a logarithmic axis is as far from its least label as from its largest.
  const double typical =
      logarithmic ? std::sqrt(least * most) : std::max(std::abs(least), std::abs(most));
  for (const auto& [size, name] : units)
    if (typical >= size * 0.9995) return {size, std::string(name)};
  return {units.back().first, std::string(units.back().second)};
}

double Scale::at(double value) const {
  if (!(most > least)) return 0;
  if (logarithmic) {
    const double floor = std::max(value, least);
    return std::clamp(std::log(floor / least) / std::log(most / least), 0.0, 1.0);
  }
  return std::clamp((value - least) / (most - least), 0.0, 1.0);
}

Scale linear_scale(std::string label, Unit unit, double least, double most) {
  if (!(most > least)) most = least + (least == 0 ? 1 : std::abs(least));
  return {std::move(label), least, most, unit, false, false};
}

Scale count_scale(std::string label, double least, double most) {
  Scale scale = linear_scale(std::move(label), Unit::number, least, most);
  scale.whole = true;
  return scale;
}

Scale with_room(Scale scale) {
  constexpr double kRoom = 0.03;
  const double length = scale.most - scale.least;
  scale.least -= kRoom * length;
  scale.most += kRoom * length;
  return scale;
}

Scale logarithmic_scale(std::string label, Unit unit, double least, double most) {
  least = std::max(least, 1e-12);
  if (!(most > least)) most = 10 * least;
  const double low = std::pow(10, std::floor(std::log10(least)));
  return {std::move(label), low, std::pow(10, std::ceil(std::log10(most))), unit, true, false};
}

std::vector<Tick> scale_ticks(const Scale& scale, int about) {
  std::vector<Tick> ticks;
  const AxisUnit unit = scale.axis_unit();
  if (scale.logarithmic) {
    const double decades = std::log10(scale.most / scale.least);
    const double step = std::pow(10, std::max(1.0, std::ceil(decades / about)));
    for (double value = scale.least; value <= scale.most * 1.001; value *= step)
      ticks.push_back({scale.at(value), unit.spelled(value)});
    return ticks;
  }
  double step = round_step(scale.most - scale.least, about);
  if (scale.whole) step = std::max(1.0, step);
  const auto first = std::llround(std::ceil(scale.least / step - 1e-9));
  const auto last = std::llround(std::floor(scale.most / step + 1e-9));
  for (auto i = first; i <= last; ++i) {
    const double value = static_cast<double>(i) * step;
    ticks.push_back({scale.at(value), unit.spelled(value)});
  }
  return ticks;
}

}  // namespace loaderscope::page
