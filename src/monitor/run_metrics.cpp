#include "monitor/run_metrics.h"

#include <algorithm>

#include "loaderscope/vocabulary.h"

namespace loaderscope::monitor {
namespace {

constexpr double kHardly = 0.05;  // share of the window

double share(Nanos part, Nanos whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

Nanos total_stall(const RunningAccount& account) {
  Nanos sum = 0;
  for (const auto& word : Words<Cause>::table()) sum += account.stall[word.value];
  return sum;
}

}  // namespace

std::span<const std::string_view> run_limits() {
  static const std::vector<std::string_view> limits = [] {
    std::vector<std::string_view> all = {"unknown", "trainer"};
    for (const auto& word : Words<Cause>::table()) all.push_back(word.name);
    return all;
  }();
  return limits;
}

std::string_view find_limit(const RunningAccount& account) {
  if (account.steps <= 0 || account.window <= 0) return "unknown";
  if (share(total_stall(account), account.window) < kHardly) return "trainer";
  const auto& causes = Words<Cause>::table();
  return std::max_element(causes.begin(), causes.end(),
                          [&](const auto& a, const auto& b) {
                            return account.stall[a.value] < account.stall[b.value];
                          })
      ->name;
}

void add_account_metrics(const RunningAccount& account, const RunningAccount& recent,
                         LiveSamples& samples) {
  samples.add_states(LiveMetric::limit, run_limits(), find_limit(recent));
  if (account.steps <= 0 || account.window <= 0) return;
  samples.add(LiveMetric::window, seconds(account.window));
  samples.add(LiveMetric::compute, seconds(account.compute));
  for (const auto& word : Words<Cause>::table())
    samples.add(LiveMetric::wait, seconds(account.stall[word.value]),
                {{"cause", std::string(word.name)}});
  samples.add(LiveMetric::batches, static_cast<double>(account.steps));
  samples.add(LiveMetric::batches_ready, static_cast<double>(account.ready));
  if (account.samples > 0) samples.add(LiveMetric::samples, static_cast<double>(account.samples));
  if (recent.window <= 0) return;
  samples.add(LiveMetric::gpu_waiting, share(total_stall(recent), recent.window));
  samples.add(LiveMetric::queued_batches, share(recent.queued, recent.window));
}

RunningAccount RecentAccount::add(Nanos now, const RunningAccount& account) {
  // The window starts again if a program begins to train after a validation.
  if (!earlier_.empty() && account.steps < earlier_.back().account.steps) earlier_.clear();
  while (earlier_.size() > 1 && now - earlier_[1].at >= kTime) earlier_.pop_front();
  const bool has_minute = !earlier_.empty() && now - earlier_.front().at >= kTime;
  RunningAccount recent = account;
  if (has_minute) recent.subtract(earlier_.front().account);
  if (earlier_.empty() || now - earlier_.back().at >= kApart) earlier_.push_back({now, account});
  return recent;
}

}  // namespace loaderscope::monitor
