// Busy share, waits and stages of one run of each side, without a verdict.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/wording.h"
#include "report/compare_text.h"

namespace loaderscope::compare {
namespace {

constexpr double kWorthShowing = 0.01;  // share of the window, or of the time of all stages

struct Two {
  double a = 0, b = 0;
};

// Returns the values of both sides. 0 if only one side has such a wait or stage.
std::optional<Two> both_values(const Comparison& comparison, std::string_view name) {
  if (comparison.runs.size() != 2) return std::nullopt;
  const auto a = value_of(comparison.runs[0].quantities, name);
  const auto b = value_of(comparison.runs[1].quantities, name);
  if (!a && !b) return std::nullopt;
  return Two{a.value_or(0), b.value_or(0)};
}

// The waits are shares of a window in which something computes.
bool has_waits(const Comparison& comparison) { return both_values(comparison, "busy").has_value(); }

void add_share(std::vector<std::vector<std::string>>& rows, const std::string& name, Two share) {
  rows.push_back({spoken(name), fmt::format("{:.1f} %", 100 * share.a),
                  fmt::format("{:.1f} %", 100 * share.b),
                  fmt::format("{:+.1f} points", 100 * (share.b - share.a))});
}

void add_time(std::vector<std::vector<std::string>>& rows, const std::string& name, Two time) {
  const auto shown = [](double s) {
    return s > 0 ? format_duration(std::llround(1e9 * std::min(s, 1e9))) : std::string("-");
  };
  rows.push_back(
      {name + " per sample", shown(time.a), shown(time.b),
       time.a > 0 && time.b > 0 ? fmt::format("{:+.1f} %", 100 * (time.b / time.a - 1)) : ""});
}

}  // namespace

std::vector<std::vector<std::string>> cells_of_results(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows;
  if (const auto busy = both_values(comparison, "busy")) {
    add_share(rows, "busy", *busy);
    for (const auto& word : Words<Cause>::table()) {
      const std::string name = std::string(kWaitFor) + std::string(word.name);
      const auto wait = both_values(comparison, name);
      if (wait && std::max(wait->a, wait->b) >= kWorthShowing) add_share(rows, name, *wait);
    }
  }
  Two all;
  for (const Stage stage : compared_stages()) {
    const auto time = both_values(comparison, std::string(name_of(stage)) + std::string(kWall));
    if (time) all = {all.a + time->a, all.b + time->b};
  }
  for (const Stage stage : compared_stages()) {
    const auto time = both_values(comparison, std::string(name_of(stage)) + std::string(kWall));
    if (time && (time->a > kWorthShowing * all.a || time->b > kWorthShowing * all.b))
      add_time(rows, std::string(shown_name(name_of(stage))), *time);
  }
  return rows;
}

std::optional<WaitChange> largest_wait_change(const Comparison& comparison, bool is_faster) {
  if (!has_waits(comparison)) return std::nullopt;
  std::optional<WaitChange> most;
  double largest = kWorthShowing;
  for (const auto& word : Words<Cause>::table()) {
    const auto wait = both_values(comparison, std::string(kWaitFor) + std::string(word.name));
    if (!wait) continue;
    const double change = is_faster ? wait->a - wait->b : wait->b - wait->a;
    if (change <= largest) continue;
    largest = change;
    most = WaitChange{word.value, wait->a, wait->b};
  }
  return most;
}

std::string changed_wait(const Comparison& comparison, bool is_faster) {
  const std::optional<WaitChange> most = largest_wait_change(comparison, is_faster);
  if (!most) return "";
  return fmt::format("waiting for {} {:.0f} % -> {:.0f} %", shown_name(name_of(most->cause)),
                     100 * most->a, 100 * most->b);
}

}  // namespace loaderscope::compare
