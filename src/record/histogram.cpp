#include <algorithm>
#include <bit>
#include <cmath>

#include "loaderscope/run_record.h"
#include "record/checked_sum.h"

namespace loaderscope {
namespace {

// Buckets: values below 2^kSubBits have one each; above, every power of two is cut into 2^kSubBits.
constexpr int kSubBits = 7;
constexpr std::int64_t kSub = std::int64_t{1} << kSubBits;

std::int64_t bucket_of(Nanos value) {
  if (value < kSub) return std::max<Nanos>(value, 0);
  const int shift =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1 - kSubBits;
  return shift * kSub + (value >> shift);
}

using Cells = std::vector<std::pair<std::int64_t, Nanos>>;

// The first cell says which bucket the second one is of, the lowest that was ever used: a job has a
// histogram for each stage of each of its ranks, and nothing of it takes nanoseconds.
std::int64_t first_bucket(const Cells& cells) { return cells.front().first; }

Cells::value_type& cell_of(Cells& cells, std::int64_t bucket) {
  if (cells.empty()) cells.emplace_back(bucket, 0);
  std::int64_t at = bucket - first_bucket(cells);
  if (at < 0) {
    cells.insert(cells.begin() + 1, static_cast<std::size_t>(-at), {});
    cells.front().first = bucket;
    at = 0;
  }
  const auto index = static_cast<std::size_t>(at) + 1;
  if (index >= cells.size()) cells.resize(index + 1);
  return cells[index];
}

}  // namespace

void Histogram::add(Nanos value, std::int64_t times) {
  auto& [count, sum] = cell_of(cells_, bucket_of(value));
  count += times;
  add_checked(sum, value, times);
  count_ += times;
  max_ = std::max(max_, value);
}

void Histogram::merge(const Histogram& other) {
  if (other.cells_.empty()) return;
  const std::int64_t first = first_bucket(other.cells_);
  const auto buckets = std::ssize(other.cells_) - 1;
  cell_of(cells_, first + buckets - 1);  // one growth at either end
  cell_of(cells_, first);
  const auto shift = static_cast<std::size_t>(first - first_bucket(cells_));
  for (std::size_t i = 1; i < other.cells_.size(); ++i) {
    cells_[i + shift].first += other.cells_[i].first;
    add_checked(cells_[i + shift].second, other.cells_[i].second);
  }
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

Nanos Histogram::quantile(double q) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_)));
  std::int64_t seen = 0;
  for (std::size_t i = 1; i < cells_.size(); ++i) {
    const auto& [count, sum] = cells_[i];
    seen += count;
    if (count > 0 && seen >= rank) return sum / count + (sum % count + count / 2) / count;
  }
  return max_;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> result;
  for (std::size_t i = 1; i < cells_.size(); ++i) {
    const auto& [count, sum] = cells_[i];
    const std::int64_t bucket = first_bucket(cells_) + static_cast<std::int64_t>(i) - 1;
    if (count > 0) result.push_back({static_cast<std::int32_t>(bucket), count, sum});
  }
  return result;
}

Histogram Histogram::from_buckets(const std::vector<Bucket>& buckets, Nanos max) {
  Histogram histogram;
  for (const Bucket& bucket : buckets) {
    cell_of(histogram.cells_, bucket.index) = {bucket.count, bucket.sum};
    histogram.count_ += bucket.count;
  }
  histogram.max_ = max;
  return histogram;
}

void StageStats::add(Nanos wall_ns, Nanos cpu_ns, Nanos queued_ns, Bytes handled) {
  ++count;
  add_checked(wall, wall_ns);
  cpu += cpu_ns;  // less than wall
  queued += queued_ns;
  add_checked(bytes, handled);
  wall_histogram.add(wall_ns);
}

void StageStats::merge(const StageStats& other) {
  count += other.count;
  add_checked(wall, other.wall);
  cpu += other.cpu;
  queued += other.queued;
  add_checked(bytes, other.bytes);
  wall_histogram.merge(other.wall_histogram);
}

}  // namespace loaderscope
