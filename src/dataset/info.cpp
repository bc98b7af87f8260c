#include "dataset/info.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace loaderscope::dataset {
namespace {

using Counts = std::map<std::string, std::int64_t, std::less<>>;

void add(Counts& to, const Counts& from) {
  for (const auto& [name, count] : from) to[name] += count;
}

}  // namespace

void Measure::add(std::int64_t value) {
  least = histogram.count() == 0 ? value : std::min(least, value);
  most = std::max(most, value);
  histogram.add(value);
}

void Measure::merge(const Measure& other) {
  if (other.histogram.count() == 0) return;
  least = histogram.count() == 0 ? other.least : std::min(least, other.least);
  most = std::max(most, other.most);
  histogram.merge(other.histogram);
}

void DatasetInfo::name_damaged(DamagedFile file) {
  const auto path_less = [](const DamagedFile& a, const DamagedFile& b) { return a.path < b.path; };
  first_damaged.insert(
      std::upper_bound(first_damaged.begin(), first_damaged.end(), file, path_less),
      std::move(file));
  if (first_damaged.size() > kNamed) first_damaged.pop_back();
}

void DatasetInfo::merge(const DatasetInfo& other) {
  samples += other.samples;
  images += other.images;
  damaged += other.damaged;
  other_files += other.other_files;
  unreadable_folders += other.unreadable_folders;
  bytes += other.bytes;
  pixels += other.pixels;
  progressive += other.progressive;
  stored_bytes.merge(other.stored_bytes);
  widths.merge(other.widths);
  heights.merge(other.heights);
  aspects.merge(other.aspects);
  qualities.merge(other.qualities);
  add(formats, other.formats);
  add(subsamplings, other.subsamplings);
  add(engine_refusals, other.engine_refusals);
  add(classes, other.classes);
  for (const DamagedFile& file : other.first_damaged) name_damaged(file);
}

namespace {

// Adds the distances of stored neighbours in the stream, as shares of its length.
void add_distances(const SampleOrder& order, std::vector<double>& to) {
  std::vector<std::pair<std::int64_t, std::size_t>> places;
  for (std::size_t i = 0; i < order.size(); ++i) places.emplace_back(order[i], i);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 1; i < places.size(); ++i) {
    const double apart =
        static_cast<double>(places[i].second) - static_cast<double>(places[i - 1].second);
    to.push_back(std::abs(apart) / static_cast<double>(order.size()));
  }
}

// Returns the share of pairs of random places in [0, 1] that are at most `apart` apart.
double uniform_share(double apart) { return 1 - (1 - apart) * (1 - apart); }

struct Neighbours {
  OrderMixing mixing;
  double apart = 0, uniform_apart = 0;
};

std::optional<Neighbours> find_neighbours(const std::vector<SampleOrder>& orders) {
  std::vector<double> apart;
  std::size_t samples = 0;
  for (const SampleOrder& order : orders) {
    add_distances(order, apart);
    samples += order.size();
  }
  if (apart.empty()) return std::nullopt;
  std::sort(apart.begin(), apart.end());
  Neighbours found;
  const auto pairs = static_cast<double>(apart.size());
  for (std::size_t i = 0; i < apart.size(); ++i) {
    const double uniform = uniform_share(apart[i]);
    const double below = static_cast<double>(i) / pairs, up_to = static_cast<double>(i + 1) / pairs;
    found.mixing.distance = std::max({found.mixing.distance, uniform - below, up_to - uniform});
  }
  const double stream_samples = static_cast<double>(samples) / static_cast<double>(orders.size());
  // Places are whole: the smallest distance is 1, not anything above 0.
  found.mixing.chance_limit = 1.95 / std::sqrt(pairs) + 1 / stream_samples;
  found.apart = apart[apart.size() / 2] * stream_samples;
  found.uniform_apart = (1 - std::sqrt(0.5)) * stream_samples;
  return found;
}

std::optional<OrderMixing> measure_mixing(const SampleOrder& order) {
  const auto found = find_neighbours({order});
  return found ? std::optional(found->mixing) : std::nullopt;
}

// Interleaves the streams as a trainer does: a batch of each worker in rotation.
SampleOrder interleave(const std::vector<SampleOrder>& orders) {
  constexpr std::size_t kBatch = 64;
  std::size_t longest = 0;
  for (const SampleOrder& order : orders) longest = std::max(longest, order.size());
  SampleOrder all;
  for (std::size_t begin = 0; begin < longest; begin += kBatch) {
    for (const SampleOrder& order : orders) {
      for (std::size_t i = begin; i < std::min(begin + kBatch, order.size()); ++i)
        all.push_back(order[i]);
    }
  }
  return all;
}

// Returns the earlier places of the samples that came in the epoch before.
SampleOrder places_before(const SampleOrder& before, const SampleOrder& again) {
  std::unordered_map<std::int64_t, std::int64_t> places;
  for (std::size_t i = 0; i < before.size(); ++i)
    places.emplace(before[i], static_cast<std::int64_t>(i));
  SampleOrder order;
  for (const std::int64_t sample : again) {
    if (const auto found = places.find(sample); found != places.end())
      order.push_back(found->second);
  }
  return order;
}

}  // namespace

std::optional<ShuffleQuality> shuffle_quality(const std::vector<SampleOrder>& orders,
                                              const SampleOrder& again) {
  const auto found = find_neighbours(orders);
  if (!found) return std::nullopt;
  ShuffleQuality quality{std::ssize(orders), found->mixing.distance, found->mixing.chance_limit,
                         found->apart, found->uniform_apart};
  if (orders.size() > 1) quality.rank = measure_mixing(interleave(orders));
  quality.epochs = measure_mixing(places_before(orders.front(), again));
  return quality;
}

}  // namespace loaderscope::dataset
