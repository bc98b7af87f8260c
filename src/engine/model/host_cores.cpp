#include "engine/model/host_cores.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace loaderscope::model {

HostCores::HostCores(std::vector<SharedServer> hosts)
    : hosts_(std::move(hosts)),
      leaves_(std::max<std::size_t>(std::bit_ceil(hosts_.size()), 2)),
      winners_(leaves_) {
  for (std::size_t place = leaves_ - 1; place > 0; --place) winners_[place] = winner_of(place);
}

// Breaks ties by the smaller `who`.
std::size_t HostCores::earlier(std::size_t a, std::size_t b) const {
  if (a >= hosts_.size() || b >= hosts_.size()) return std::min(a, b);
  if (hosts_[a].next_end() != hosts_[b].next_end())
    return hosts_[a].next_end() < hosts_[b].next_end() ? a : b;
  if (hosts_[a].idle() || hosts_[b].idle()) return a;
  return hosts_[a].next_who() < hosts_[b].next_who() ? a : b;
}

std::size_t HostCores::winner_of(std::size_t place) const {
  const std::size_t left = 2 * place, right = left + 1;
  if (left < leaves_) return earlier(winners_[left], winners_[right]);
  const std::size_t host = left - leaves_;
  return host < hosts_.size() ? earlier(host, host + 1) : hosts_.size();
}

void HostCores::play_again(std::size_t host) {
  for (std::size_t place = (leaves_ + host) / 2; place > 0; place /= 2)
    winners_[place] = winner_of(place);
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
