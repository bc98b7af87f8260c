#include "cli/live_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMostCauses = 4;
constexpr double kVisible = 0.005;  // of the window

double share(Nanos part, Nanos whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string bar(double share, std::size_t columns) {
  const auto filled =
      static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns) + 0.5);
  return "[" + std::string(filled, '#') + std::string(columns - filled, '.') + "]";
}

}  // namespace

void LiveAccount::booked(std::int32_t rank, const StepRow& row) {
  if (row.warmup) return;
  ranks_ = std::max(ranks_, rank + 1);
  compute_ += row.compute_end - row.compute_begin;
  window_ += row.compute_end - row.idle_begin;
  for (std::size_t c = 0; c < kCauses; ++c) stall_.at(c) += row.stall.at(c);
  ++steps_;
  samples_ += row.samples;
  queued_ += std::max<Nanos>(row.take - row.deliverable, 0);
  ready_ += row.deliverable <= row.ask ? 1 : 0;
}

std::vector<std::string> LiveAccount::lines(std::size_t width) const {
  if (steps_ == 0 || window_ <= 0) return {};
  std::vector<std::string> lines = {busy_line(width)};
  std::string waits = waits_line(width);
  if (!waits.empty()) lines.push_back(std::move(waits));
  return lines;
}

// A window is as long as all ranks' together, by their number.
std::string LiveAccount::busy_line(std::size_t width) const {
  constexpr std::size_t kLongestBar = 30, kShortestBar = 8;
  const double wall = seconds(window_) / ranks_;
  const std::string before = compute_ > 0
                                 ? fmt::format("busy {} ", show_percent(share(compute_, window_)))
                                 : std::string();
  const std::string behind =
      fmt::format("{} samples/s, a batch was ready {}, {:.1f} queued",
                  show_rate(static_cast<double>(samples_) / wall),
                  show_percent(static_cast<double>(ready_) / static_cast<double>(steps_)),
                  static_cast<double>(queued_) / static_cast<double>(window_));
  if (compute_ == 0) return behind.substr(0, width);
  const std::size_t taken = before.size() + behind.size() + 3;
  const std::size_t room = width > taken ? std::min(kLongestBar, width - taken) : 0;
  const std::string line =
      before + (room >= kShortestBar ? bar(share(compute_, window_), room) + " " : "") + behind;
  return line.substr(0, width);
}

std::string LiveAccount::waits_line(std::size_t width) const {
  std::vector<std::pair<double, std::string_view>> causes;
  for (const auto& word : Words<Cause>::table()) {
    const double of_window = share(stall_[word.value], window_);
    if (of_window >= kVisible) causes.emplace_back(of_window, word.name);
  }
  std::sort(causes.rbegin(), causes.rend());
  std::string line;
  for (std::size_t i = 0; i < std::min(kMostCauses, causes.size()); ++i) {
    const std::string next = fmt::format("{}{} {}", line.empty() ? "waits for " : ", ",
                                         causes[i].second, show_percent(causes[i].first));
    if (line.size() + next.size() > width) break;
    line += next;
  }
  return line;
}

}  // namespace loaderscope
