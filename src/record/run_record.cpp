#include "loaderscope/run_record.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "record/checked_sum.h"

namespace loaderscope {
namespace {

// Buckets: values below 2^kSubBits have one each; above, every power of two is cut into 2^kSubBits.
constexpr int kSubBits = 7;
constexpr std::int64_t kSub = std::int64_t{1} << kSubBits;

std::int64_t bucket_index(Nanos value) {
  if (value < kSub) return std::max<Nanos>(value, 0);
  const int shift =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1 - kSubBits;
  return shift * kSub + (value >> shift);
}

}  // namespace

Histogram::Cell& Histogram::bucket_cell(std::int64_t bucket) {
  if (cells_.empty()) first_ = bucket;
  if (bucket < first_) {
    cells_.insert(cells_.begin(), static_cast<std::size_t>(first_ - bucket), {});
    first_ = bucket;
  }
  const auto index = static_cast<std::size_t>(bucket - first_);
  if (index >= cells_.size()) cells_.resize(index + 1);
  return cells_[index];
}

void Histogram::expect(Nanos value) const {
  const auto index = static_cast<std::size_t>(bucket_index(value) - first_);
  if (index < cells_.size()) __builtin_prefetch(&cells_[index], 1);
}

void Histogram::add(Nanos value, std::int64_t times) {
  auto& [count, sum] = bucket_cell(bucket_index(value));
  count += times;
  add_checked(sum, value, times);
  count_ += times;
  max_ = std::max(max_, value);
}

void Histogram::merge(const Histogram& other) {
  if (other.cells_.empty()) return;
  bucket_cell(other.first_ + std::ssize(other.cells_) - 1);  // one growth at either end
  bucket_cell(other.first_);
  const auto shift = static_cast<std::size_t>(other.first_ - first_);
  for (std::size_t i = 0; i < other.cells_.size(); ++i) {
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
  for (const auto& [count, sum] : cells_) {
    seen += count;
    if (count > 0 && seen >= rank) return sum / count + (sum % count + count / 2) / count;
  }
  return max_;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> result;
  std::int64_t bucket = first_;
  for (const auto& [count, sum] : cells_) {
    if (count > 0) result.push_back({static_cast<std::int32_t>(bucket), count, sum});
    ++bucket;
  }
  return result;
}

Histogram Histogram::from_buckets(const std::vector<Bucket>& buckets, Nanos max) {
  Histogram histogram;
  for (const Bucket& bucket : buckets) {
    histogram.bucket_cell(bucket.index) = {bucket.count, bucket.sum};
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

Metric make_metric(std::string name, std::string help, double value) {
  const MetricRow* row = find_metric(name);
  if (row == nullptr) throw std::logic_error("metrics.def has no row for '" + name + "'");
  return {std::move(name), std::string(row->unit), std::move(help), value, false, row->join};
}

std::optional<double> value_of(const std::vector<Metric>& metrics, std::string_view name) {
  for (const Metric& metric : metrics) {
    if (metric.name == name && std::isfinite(metric.value)) return metric.value;
  }
  return std::nullopt;
}

}  // namespace loaderscope
