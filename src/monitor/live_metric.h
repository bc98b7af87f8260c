// The metrics of a running job, and their values at one moment. Both writers, Prometheus and OTLP,
// read this one list.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loaderscope::monitor {

enum class LiveType : std::uint8_t { gauge, counter, info, state_set };
enum class LiveUnit : std::uint8_t { none, seconds, bytes, ratio, cores };

enum class LiveMetric : std::uint8_t {
#define LOADERSCOPE_LIVE_METRIC(id, name, type, unit, labels, sentence) id,
#include "monitor/live_metrics.def"
#undef LOADERSCOPE_LIVE_METRIC
};

struct LiveMetricRow {
  std::string_view name;  // name without prefix and unit
  LiveType type;
  LiveUnit unit;
  std::string_view labels;  // besides `pid`
  std::string_view sentence;
};
std::span<const LiveMetricRow> live_metric_table();  // indexed by LiveMetric
std::string_view name_of(LiveType type);             // word of OpenMetrics
std::string_view name_of(LiveUnit unit);             // "" for `none`
std::string family_name(const LiveMetricRow& row);   // "loaderscope_worker_cpu_seconds"
std::string sample_name(const LiveMetricRow& row);   // "loaderscope_worker_cpu_seconds_total"

using LiveLabels = std::vector<std::pair<std::string, std::string>>;

// Returns text of others as the value of a label: short, UTF-8, without control characters.
std::string label_text(std::string_view text);

struct LiveSample {
  LiveMetric metric;
  LiveLabels labels;
  double value = 0;
};

// The values of one job. Its labels precede those of each sample. Values that are no number are
// left out.
class LiveSamples {
 public:
  explicit LiveSamples(LiveLabels job_labels) : job_labels_(std::move(job_labels)) {}

  void add(LiveMetric metric, double value, const LiveLabels& labels = {});
  // Adds one sample per state: 1 for `current`, 0 for the others.
  void add_states(LiveMetric metric, std::span<const std::string_view> states,
                  std::string_view current);
  const std::vector<LiveSample>& all() const { return samples_; }

 private:
  LiveLabels job_labels_;
  std::vector<LiveSample> samples_;
};

// The latest values of all jobs. Callable from any thread.
class LiveBoard {
 public:
  LiveBoard();

  void set(std::int64_t job, LiveSamples samples);  // replaces the earlier values of the job
  void remove(std::int64_t job);
  std::vector<LiveSample> samples() const;  // sorted by metric, then by job
  std::int64_t started_unix_ns() const { return started_; }

 private:
  std::int64_t started_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, LiveSamples> jobs_;
};

}  // namespace loaderscope::monitor
