#include "experiment/compare/noise_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace loaderscope::compare {
namespace {

constexpr std::size_t kQuoted = 20;
constexpr double kMax = 10;  // a logarithm; runs never write larger values

// Takes a number off the front of `line`; nothing where there is none.
std::optional<double> take_number(std::string_view& line) {
  double value = 0;
  const auto [next, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc() || !(value >= 0 && value < kMax)) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(next - line.data()));
  if (line.starts_with(' ')) line.remove_prefix(1);
  return value;
}

std::string one_line(const MachineFacts& machine) {
  std::string text = fmt::format("{} cores of {}", machine.cores, machine.cpu);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

std::optional<KnownNoise> find_noise(std::string_view lines, std::string_view machine) {
  std::vector<KnownNoise> all;
  for_each_line(lines, [&](std::string_view line) {
    const auto cpu = take_number(line), rate = take_number(line);
    if (cpu && rate && line == machine) all.push_back({*rate, *cpu, 1});
  });
  if (all.empty()) return std::nullopt;
  if (all.size() > kQuoted) all.erase(all.begin(), all.end() - kQuoted);
  KnownNoise widest{0, 0, std::ssize(all)};
  for (const KnownNoise& one : all) {
    widest.rate = std::max(widest.rate, one.rate);
    widest.cpu = std::max(widest.cpu, one.cpu);
  }
  return widest;
}

NoiseHistory::NoiseHistory(const std::string& folder, const MachineFacts& machine)
    : lines_(folder, "spreads"), machine_(one_line(machine)) {}

void NoiseHistory::add(const ComparisonResult& judgement) const {
  const Difference* rate = judgement.find("samples-per-s");
  const Difference* cpu = judgement.find("cpu-per-sample");
  if (rate == nullptr || cpu == nullptr || judgement.pairs < kMinPairs) return;
  lines_.add(fmt::format("{:.6g} {:.6g} {}", cpu->spread, rate->spread, machine_));
}

std::optional<KnownNoise> NoiseHistory::summary() const {
  return find_noise(lines_.text(), machine_);
}

}  // namespace loaderscope::compare
