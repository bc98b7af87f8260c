#include "cli/live_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxCauses = 4;
constexpr double kVisible = 0.005;  // share of the window

double share(Nanos part, Nanos whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string bar(double share, std::size_t columns) {
  const auto filled =
      static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns) + 0.5);
  return "[" + std::string(filled, '#') + std::string(columns - filled, '.') + "]";
}

// A window is as long as all ranks' together, by their number.
std::string busy_line(const RunningAccount& account, std::size_t width) {
  constexpr std::size_t kMaxBar = 30, kShortestBar = 8;
  const double wall = seconds(account.window) / account.ranks;
  const std::string before =
      account.compute > 0
          ? fmt::format("busy {} ", format_percent(share(account.compute, account.window)))
          : std::string();
  const bool has_samples = account.samples > 0;  // a program's batches may hold none that is known
  const std::string behind = fmt::format(
      "{} {}/s, a batch was ready {}, {:.1f} queued",
      format_rate(static_cast<double>(has_samples ? account.samples : account.steps) / wall),
      has_samples ? "samples" : "batches",
      format_percent(static_cast<double>(account.ready) / static_cast<double>(account.steps)),
      static_cast<double>(account.queued) / static_cast<double>(account.window));
  if (account.compute == 0) return behind.substr(0, width);
  const std::size_t taken = before.size() + behind.size() + 3;
  const std::size_t room = width > taken ? std::min(kMaxBar, width - taken) : 0;
  const std::string line =
      before +
      (room >= kShortestBar ? bar(share(account.compute, account.window), room) + " " : "") +
      behind;
  return line.substr(0, width);
}

std::string waits_line(const RunningAccount& account, std::size_t width) {
  std::vector<std::pair<double, std::string_view>> causes;
  for (const auto& word : Words<Cause>::table()) {
    const double of_window = share(account.stall[word.value], account.window);
    if (of_window >= kVisible) causes.emplace_back(of_window, word.name);
  }
  std::sort(causes.rbegin(), causes.rend());
  std::string line;
  for (std::size_t i = 0; i < std::min(kMaxCauses, causes.size()); ++i) {
    const std::string next = fmt::format("{}{} {}", line.empty() ? "waits for " : ", ",
                                         causes[i].second, format_percent(causes[i].first));
    if (line.size() + next.size() > width) break;
    line += next;
  }
  return line;
}

}  // namespace

std::vector<std::string> live_lines(const RunningAccount& account, std::size_t width) {
  if (account.steps == 0 || account.window <= 0) return {};
  std::vector<std::string> lines = {busy_line(account, width)};
  std::string waits = waits_line(account, width);
  if (!waits.empty()) lines.push_back(std::move(waits));
  return lines;
}

}  // namespace loaderscope
