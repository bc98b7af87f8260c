#include "analysis/read_fit.h"

#include <algorithm>

namespace loaderscope {
namespace {

constexpr std::int64_t kMinRows = 30;
constexpr double kNoLatency = 0.05;    // share of the mean wait by which the line may pass below 0
constexpr double kMinExplained = 0.5;  // R² of a line that is believed

// Sums of a least-squares line, x in bytes and y in ns.
struct Sums {
  std::int64_t rows = 0;
  double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  double all = 0;  // ns of all stages

  void add(const SampleRow& row) {
    const SampleRow::Part& read = row.parts.front();
    const auto bytes = static_cast<double>(row.bytes);
    const auto wait = static_cast<double>(read.wall - read.cpu - read.queued);
    ++rows;
    x += bytes;
    y += wait;
    xx += bytes * bytes;
    xy += bytes * wait;
    yy += wait * wait;
    for (const SampleRow::Part& part : row.parts) all += static_cast<double>(part.wall);
  }
};

}  // namespace

ReadFit fit_reads(const RunRecord& record) {
  Sums sums;
  for (const RankRecord& rank : record.ranks) {
    for (const SampleRow& row : rank.reservoir) sums.add(row);
  }
  ReadFit line;
  if (sums.rows == 0) return line;
  const auto n = static_cast<double>(sums.rows);
  line.mean_wait = sums.y / n;
  line.mean_bytes = sums.x / n;
  line.share = sums.all > 0 ? sums.y / sums.all : 0;
  const double xx = sums.xx / n - line.mean_bytes * line.mean_bytes;
  const double xy = sums.xy / n - line.mean_bytes * line.mean_wait;
  const double yy = sums.yy / n - line.mean_wait * line.mean_wait;
  // Rounding of equal sizes or equal times is not variation.
  const bool spread = xx > 1e-9 * sums.xx / n && yy > 1e-9 * sums.yy / n;
  if (!spread || sums.rows < kMinRows) return line;
  line.per_byte = xy / xx;
  line.latency = line.mean_wait - line.per_byte * line.mean_bytes;
  line.separable = line.per_byte > 0 && line.latency >= -kNoLatency * line.mean_wait &&
                   xy * xy / (xx * yy) >= kMinExplained;
  line.latency = std::max(line.latency, 0.0);
  return line;
}

}  // namespace loaderscope
