#include "experiment/compare/spread_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace loaderscope::compare {
namespace {

constexpr std::size_t kQuoted = 20;
constexpr double kMost = 10;  // as a logarithm: beyond it no run has written it

// Takes a number off the front of `line`; nothing where there is none.
std::optional<double> take_number(std::string_view& line) {
  double value = 0;
  const auto [next, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc() || !(value >= 0 && value < kMost)) return std::nullopt;
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

std::optional<KnownSpread> spread_in(std::string_view lines, std::string_view machine) {
  std::vector<KnownSpread> all;
  for_each_line(lines, [&](std::string_view line) {
    const auto cpu = take_number(line), rate = take_number(line);
    if (cpu && rate && line == machine) all.push_back({*rate, *cpu, 1});
  });
  if (all.empty()) return std::nullopt;
  if (all.size() > kQuoted) all.erase(all.begin(), all.end() - kQuoted);
  KnownSpread widest{0, 0, std::ssize(all)};
  for (const KnownSpread& one : all) {
    widest.rate = std::max(widest.rate, one.rate);
    widest.cpu = std::max(widest.cpu, one.cpu);
  }
  return widest;
}

SpreadHistory::SpreadHistory(const std::string& folder, const MachineFacts& machine)
    : lines_(folder, "spreads"), machine_(one_line(machine)) {}

void SpreadHistory::add(const Judgement& judgement) const {
  const Difference* rate = judgement.find("samples-per-s");
  const Difference* cpu = judgement.find("cpu-per-sample");
  if (rate == nullptr || cpu == nullptr || judgement.pairs < kFewestPairs) return;
  lines_.add(fmt::format("{:.6g} {:.6g} {}", cpu->spread, rate->spread, machine_));
}

std::optional<KnownSpread> SpreadHistory::summary() const {
  return spread_in(lines_.text(), machine_);
}

}  // namespace loaderscope::compare
