#include "analysis/request_times.h"

#include <algorithm>

namespace loaderscope {
namespace {

constexpr double kEnoughAlone = 10;  // requests needed for a mean

double metric_or_zero(const std::vector<Metric>& metrics, const char* name) {
  return value_of(metrics, name).value_or(0);
}

// The mean of many, else the shortest: of few one that was late for another reason, such as the
// first one that a server ever answers, would stand for all.
void add_alone(RequestTimes& times, const std::vector<Metric>& metrics) {
  times.counted_alone = metric_or_zero(metrics, metric::requests_alone);
  times.alone_is_mean = times.counted_alone >= kEnoughAlone;
  double alone = metric_or_zero(metrics, metric::requests_alone_s);
  if (!times.alone_is_mean) {
    times.counted_alone += metric_or_zero(metrics, metric::requests_opening_alone);
    alone = metric_or_zero(metrics, metric::requests_alone_least_s);
    const double opening = metric_or_zero(metrics, metric::requests_opening_alone_least_s);
    if (alone <= 0 || (opening > 0 && opening < alone)) alone = opening;
  }
  if (alone > 0) times.alone = std::min(alone, times.first_byte);
}

}  // namespace

std::optional<RequestTimes> request_times(const std::vector<Metric>& metrics, double readers) {
  const double answered = metric_or_zero(metrics, metric::requests_sent) -
                          metric_or_zero(metrics, metric::requests_retries);
  RequestTimes times;
  times.bytes = metric_or_zero(metrics, metric::requests_bytes) / std::max(answered, 1.0);
  times.first_byte = metric_or_zero(metrics, metric::requests_first_byte_s);
  times.all = metric_or_zero(metrics, metric::requests_time_s);
  times.at_once = metric_or_zero(metrics, metric::requests_in_flight);
  times.in_flight = readers * times.at_once;
  const bool is_known = answered > 0 && times.bytes >= 1 && times.all > 0 && times.first_byte > 0 &&
                        times.at_once > 0;
  if (!is_known) return std::nullopt;
  times.slowed_by_others = value_of(metrics, metric::requests_slowed_by_others);
  add_alone(times, metrics);
  return times;
}

std::optional<RequestTimes> request_times(const RunRecord& record) {
  const RunConfig& config = record.config;
  const std::int64_t rank_readers = std::max<std::int64_t>(1, config.loader.num_workers);
  return request_times(record.metrics, static_cast<double>(rank_readers * config.trainer.ranks));
}

}  // namespace loaderscope
