// The storage of a job, as its model has it: what all readers share, and what each has alone.
#include <algorithm>

#include "predict/fitted_model.h"
#include "predict/storage_fit.h"

namespace loaderscope::model {
namespace {

constexpr double kNanosOfSecond = 1e9;

// Returns the rate of the samples' reads that wait for the link, one after the other.
double bytes_per_transfer_ns(const FittedCosts& costs) {
  double bytes = 0, transfers = 0;
  for (const FittedCosts::Rank& rank : costs.ranks) {
    for (const FittedCosts::Sample& sample : rank.samples) {
      bytes += static_cast<double>(sample.bytes);
      transfers += static_cast<double>(sample.stages.front().transfers);
    }
  }
  const double speed = costs.speed[Stage::read] > 0 ? costs.speed[Stage::read] : 1;
  return transfers > 0 ? speed * bytes / transfers : 0;
}

}  // namespace

double shared_storage_rate(const FittedCosts& costs, const RunConfig& config) {
  if (config.declared.storage_bandwidth > 0) return config.declared.storage_bandwidth;
  if (costs.requests)
    return costs.requests->link_per_byte > 0 ? kNanosOfSecond / costs.requests->link_per_byte : 0;
  return costs.storage_streams * bytes_per_transfer_ns(costs) * kNanosOfSecond;
}

std::optional<double> bytes_in_requests(const FittedCosts& costs) {
  if (!costs.requests || costs.requests->samples <= 0) return std::nullopt;
  const FittedCosts::Requests& requests = *costs.requests;
  return static_cast<double>(requests.bytes) / requests.samples * (1 - requests.hit_rate);
}

void read_alone(FittedCosts& costs, RunConfig& config) {
  DeclaredConfig& declared = config.declared;
  if (declared.storage_bandwidth > 0) {
    const double transfer =
        config.data.stored_bytes.value.mean * kNanosOfSecond / declared.storage_bandwidth;
    declared.storage_latency.set(declared.storage_latency + static_cast<Nanos>(transfer));
    declared.storage_bandwidth.value = 0;
  }
  declared.storage_concurrency.value = 0;
  costs.storage_streams = 0;
  if (!costs.requests) return;
  FittedCosts::Requests& requests = *costs.requests;
  requests.per_byte = std::max(requests.per_byte, requests.link_per_byte);
  requests.link_per_byte = 0;
}

}  // namespace loaderscope::model
