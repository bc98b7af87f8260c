#include "probe/profile.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/wording.h"

namespace loaderscope::probe {
namespace {

struct Unit {
  std::string_view name;
  std::string (*show)(double value);
};

std::string format_seconds(double value) {
  return format_duration(static_cast<Nanos>(std::llround(std::min(value, 1e9) * 1e9)));
}
std::string format_number(double value) {
  return value < 1e15 && value == std::floor(value) ? format_count(static_cast<std::int64_t>(value))
                                                    : format_rate(value);
}

constexpr Unit kUnits[] = {
    {"1/s", [](double value) { return format_rate(value) + "/s"; }},
    {"bytes/s", format_byte_rate},
    {"bytes", format_size},
    {"s", format_seconds},
    {"cores", format_cores},
    {"count", format_number},
    {"share", format_percent},
};

constexpr std::string_view kSupplies[] = {"decoding", "storage", "copying", "link"};

}  // namespace

const std::vector<std::string_view>& unit_words() {
  static const std::vector<std::string_view> words = [] {
    std::vector<std::string_view> names;
    for (const Unit& unit : kUnits) names.push_back(unit.name);
    return names;
  }();
  return words;
}

std::string shown(const Figure& figure) {
  for (const Unit& unit : kUnits) {
    if (unit.name == figure.unit) return unit.show(figure.value);
  }
  return format_number(figure.value);
}

std::string_view name_of(MachineResource supply) {
  return kSupplies[static_cast<std::size_t>(supply)];
}

const std::vector<std::string_view>& supply_names() {
  static const std::vector<std::string_view> names(std::begin(kSupplies), std::end(kSupplies));
  return names;
}

const Ceiling* Profile::ceiling(MachineResource supply) const {
  for (const auto& [name, outcome] : probes) {
    for (const Ceiling& ceiling : outcome.ceilings) {
      if (ceiling.supply == supply) return &ceiling;
    }
  }
  return nullptr;
}

const Figure* Profile::figure(std::string_view measurement, std::string_view name) const {
  for (const auto& [probe, outcome] : probes) {
    if (probe != measurement) continue;
    for (const Figure& figure : outcome.figures) {
      if (figure.name == name) return &figure;
    }
  }
  return nullptr;
}

std::string Profile::sentence() const {
  std::string text;
  for (const auto& [name, outcome] : probes) {
    if (!outcome.answer.empty()) text += (text.empty() ? "" : "; ") + outcome.answer;
  }
  if (interrupted)
    text += text.empty() ? "stopped before anything was measured" : "; stopped early";
  return text.empty() ? "nothing could be measured here" : text;
}

}  // namespace loaderscope::probe
