#include <algorithm>
#include <cmath>
#include <utility>

#include "dataset/info.h"

namespace loaderscope::dataset {
namespace {

// Of samples that lie side by side: how far apart they come, as shares of the stream.
void add_distances(const std::vector<std::int64_t>& order, std::vector<double>& to) {
  std::vector<std::pair<std::int64_t, std::size_t>> places;
  for (std::size_t i = 0; i < order.size(); ++i) places.emplace_back(order[i], i);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 1; i < places.size(); ++i) {
    const double apart =
        static_cast<double>(places[i].second) - static_cast<double>(places[i - 1].second);
    to.push_back(std::abs(apart) / static_cast<double>(order.size()));
  }
}

// Of two places drawn at random from [0, 1]: the share of pairs that are at most so far apart.
double uniform_share(double apart) { return 1 - (1 - apart) * (1 - apart); }

}  // namespace

std::optional<ShuffleQuality> shuffle_quality(
    const std::vector<std::vector<std::int64_t>>& orders) {
  std::vector<double> apart;
  std::size_t samples = 0;
  for (const std::vector<std::int64_t>& order : orders) {
    add_distances(order, apart);
    samples += order.size();
  }
  if (apart.empty()) return std::nullopt;
  std::sort(apart.begin(), apart.end());
  ShuffleQuality quality;
  quality.streams = std::ssize(orders);
  const auto pairs = static_cast<double>(apart.size());
  for (std::size_t i = 0; i < apart.size(); ++i) {
    const double uniform = uniform_share(apart[i]);
    const double below = static_cast<double>(i) / pairs, up_to = static_cast<double>(i + 1) / pairs;
    quality.distance = std::max({quality.distance, uniform - below, up_to - uniform});
  }
  const double of_stream = static_cast<double>(samples) / static_cast<double>(orders.size());
  // Places are whole: the smallest distance is 1, not anything above 0.
  quality.by_chance = 1.95 / std::sqrt(pairs) + 1 / of_stream;
  quality.apart = apart[apart.size() / 2] * of_stream;
  quality.uniform_apart = (1 - std::sqrt(0.5)) * of_stream;
  return quality;
}

}  // namespace loaderscope::dataset
