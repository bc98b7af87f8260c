#include "engine/model/shared_server.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "loaderscope/events.h"

namespace loaderscope::model {
namespace {

constexpr std::int64_t kFine = 1024;  // parts of a ns in which progress is counted
constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kRebase = std::int64_t{1} << 61;

// Factor by which a team loses more than one thread. Measured with teams of two: a step of PyTorch
// that shares its two cores with two workers takes 3 to 5 times as long. No measurement shows a
// larger loss for larger teams.
constexpr double kMaxWaits = 2;

constexpr auto kLater = [](const auto& a, const auto& b) {
  return a.mark != b.mark ? a.mark > b.mark : a.who > b.who;
};

}  // namespace

SharedServer::SharedServer(double capacity, double scaling, double others, double team)
    : capacity_milli_(std::max<std::int64_t>(std::llround(capacity * 1000), 1)),
      scaling_ppm_(std::max<std::int64_t>(std::llround(scaling * kMillion), 1)),
      others_milli_(std::max<std::int64_t>(std::llround(others * 1000), 0)),
      team_milli_(std::max<std::int64_t>(std::llround(team * 1000), 0)),
      speed_(thread_speed(0)),
      next_end_(kNever) {}

SharedServer::Speed SharedServer::thread_speed(std::int64_t threads_milli) const {
  const std::int64_t n_milli = threads_milli + others_milli_;
  const bool shared = n_milli > capacity_milli_;
  const std::int64_t busy_milli = std::min(n_milli, capacity_milli_);
  // Linear between one core busy (1) and all of them (scaling).
  std::int64_t scaling = kMillion;
  if (busy_milli > 1000 && capacity_milli_ > 1000) {
    scaling -= (kMillion - scaling_ppm_) * (busy_milli - 1000) / (capacity_milli_ - 1000);
  }
  if (!shared) return {scaling, kMillion, 0, 1};
  return {capacity_milli_ * scaling, n_milli * kMillion, n_milli - capacity_milli_, n_milli};
}

void SharedServer::advance(Nanos now) {
  const Nanos passed = now - now_;
  if (passed == 0) return;
  now_ = now;
  if (!teams_.empty())
    team_progress_ += std::llround(static_cast<double>(passed) * kFine * team_speed());
  if (heap_.empty()) return;
  const Wide fine = static_cast<Wide>(passed) * kFine;
  if (speed_.numerator == speed_.denominator) {
    progress_ += static_cast<std::int64_t>(fine);
  } else {
    progress_ += static_cast<std::int64_t>(fine * speed_.numerator / speed_.denominator);
  }
  if (speed_.waiting_numerator != 0) {
    waited_ += fine * speed_.waiting_numerator / speed_.waiting_denominator;
  }
}

// All of its threads must have a core at once, each with the chance of one thread alone.
double SharedServer::team_speed() const {
  const double speed =
      static_cast<double>(speed_.numerator) / static_cast<double>(speed_.denominator);
  const double has_core = 1 - static_cast<double>(speed_.waiting_numerator) /
                                  static_cast<double>(speed_.waiting_denominator);
  const double threads = static_cast<double>(team_milli_) / 1000;
  return speed * std::pow(has_core, std::clamp(threads, 1.0, kMaxWaits) - 1);
}

void SharedServer::plan_next() {
  speed_ = thread_speed(threads_milli_ + static_cast<std::int64_t>(teams_.size()) * team_milli_);
  const Nanos threads = next_end_of_threads(), teams = next_end_of_teams();
  next_end_ = std::min(threads, teams);
  team_is_next_ = !teams_.empty() && (heap_.empty() || teams < threads ||
                                      (teams == threads && teams_.front().who < heap_.front().who));
}

Nanos SharedServer::next_end_of_teams() {
  if (teams_.empty()) {
    team_progress_ = 0;
    return kNever;
  }
  if (team_progress_ > kRebase) {
    for (Work& work : teams_) work.mark -= team_progress_;
    team_progress_ = 0;
  }
  const auto left =
      static_cast<double>(std::max<std::int64_t>(teams_.front().mark - team_progress_, 0));
  const double takes = std::ceil(left / (team_speed() * static_cast<double>(kFine)));
  return now_ + static_cast<Nanos>(std::min(takes, static_cast<double>((kNever - 1 - now_) / 2)));
}

Nanos SharedServer::next_end_of_threads() {
  if (heap_.empty()) {
    progress_ = 0;
    return kNever;
  }
  if (progress_ > kRebase) {
    for (Work& work : heap_) work.mark -= progress_;
    progress_ = 0;
  }
  const Wide left = std::max<Wide>(static_cast<Wide>(heap_.front().mark) - progress_, 0);
  const Wide divisor = static_cast<Wide>(speed_.numerator) * kFine;
  const Wide takes = (left * speed_.denominator + divisor - 1) / divisor;
  return now_ + static_cast<Nanos>(std::min<Wide>(takes, kNever - 1 - now_));
}

void SharedServer::add(Nanos now, std::uint64_t who, Nanos amount, double threads) {
  advance(now);
  const auto milli = std::max<std::int64_t>(std::llround(threads * 1000), 1);
  heap_.push_back({progress_ + amount * kFine, who, milli});
  threads_milli_ += milli;
  std::push_heap(heap_.begin(), heap_.end(), kLater);
  plan_next();
}

void SharedServer::add_team(Nanos now, std::uint64_t who, Nanos amount) {
  advance(now);
  teams_.push_back({team_progress_ + amount * kFine, who});
  std::push_heap(teams_.begin(), teams_.end(), kLater);
  plan_next();
}

void SharedServer::end_next(Nanos now) {
  advance(now);
  std::vector<Work>& ended = team_is_next_ ? teams_ : heap_;
  std::int64_t& progress = team_is_next_ ? team_progress_ : progress_;
  // Rounding may leave progress a fraction of a ns short of the mark that was reached.
  progress = std::max(progress, ended.front().mark);
  std::pop_heap(ended.begin(), ended.end(), kLater);
  if (!team_is_next_) threads_milli_ -= ended.back().threads_milli;
  ended.pop_back();
  plan_next();
}

Nanos SharedServer::waited(Nanos now) {
  advance(now);
  return static_cast<Nanos>(waited_ / kFine);
}

HostCores::HostCores(std::vector<SharedServer> hosts)
    : hosts_(std::move(hosts)),
      leaves_(std::max<std::size_t>(std::bit_ceil(hosts_.size()), 2)),
      winners_(leaves_) {
  for (std::size_t place = leaves_ - 1; place > 0; --place) winners_[place] = find_winner(place);
}

// Breaks ties by the smaller `who`.
std::size_t HostCores::earlier(std::size_t a, std::size_t b) const {
  if (a >= hosts_.size() || b >= hosts_.size()) return std::min(a, b);
  if (hosts_[a].next_end() != hosts_[b].next_end())
    return hosts_[a].next_end() < hosts_[b].next_end() ? a : b;
  if (hosts_[a].idle() || hosts_[b].idle()) return a;
  return hosts_[a].next_who() < hosts_[b].next_who() ? a : b;
}

std::size_t HostCores::find_winner(std::size_t place) const {
  const std::size_t left = 2 * place, right = left + 1;
  if (left < leaves_) return earlier(winners_[left], winners_[right]);
  const std::size_t host = left - leaves_;
  return host < hosts_.size() ? earlier(host, host + 1) : hosts_.size();
}

void HostCores::play_again(std::size_t host) {
  for (std::size_t place = (leaves_ + host) / 2; place > 0; place /= 2)
    winners_[place] = find_winner(place);
}

void HostCores::add(std::size_t host, Nanos now, std::uint64_t who, Nanos amount, double threads) {
  hosts_[host].add(now, who, amount, threads);
  play_again(host);
}

void HostCores::add_team(std::size_t host, Nanos now, std::uint64_t who, Nanos amount) {
  hosts_[host].add_team(now, who, amount);
  play_again(host);
}

void HostCores::end_next(Nanos now) {
  const std::size_t host = winners_[1];
  hosts_[host].end_next(now);
  play_again(host);
}

}  // namespace loaderscope::model
