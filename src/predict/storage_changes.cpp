// Storage of a job in the model. It is changed as far as a fit of the reads allows, and divided
// into the part that all readers share and the part that each has alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loaderscope/errors.h"
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

constexpr double kPerSecond = 1e9;
constexpr double kReached = 0.75;   // share of the depth, on average
constexpr double kAboutSeen = 1.1;  // times a rate
constexpr double kMinOthers = 0.1;  // other requests in flight; fewer do not show queueing

template <class Change>
void each_read(FittedCosts& costs, const Change& change) {
  for (FittedCosts::Rank& rank : costs.ranks) {
    for (FittedCosts::Sample& sample : rank.samples) change(sample.stages.front(), sample.bytes);
  }
}

Nanos rounded(double ns) { return std::llround(std::min(ns, static_cast<double>(kMaxCost))); }

bool any_bytes(const FittedCosts& costs) {
  return std::any_of(costs.ranks.begin(), costs.ranks.end(), [](const FittedCosts::Rank& rank) {
    return std::any_of(rank.samples.begin(), rank.samples.end(),
                       [](const FittedCosts::Sample& sample) { return sample.bytes > 0; });
  });
}

// Scales the waits of reads, so that longer reads stay longer. The queueing of requests is not
// latency and does not change.
void set_latency(FittedCosts& costs, double latency) {
  if (costs.requests) {
    costs.requests->latency = latency;
    return;
  }
  const double before = costs.read_line->latency;
  each_read(costs, [&](StageTime& read, Bytes) {
    read.waits =
        rounded(before >= 1 ? static_cast<double>(read.waits) * latency / before : latency);
  });
}

void set_bandwidth(FittedCosts& costs, double rate) {
  if (costs.requests) {
    costs.requests->link_per_byte = kPerSecond / rate;
    return;
  }
  costs.storage_streams = 1;
  each_read(costs, [&](StageTime& read, Bytes bytes) {
    read.transfers = rounded(static_cast<double>(bytes) * kPerSecond / rate);
  });
}

void set_in_flight(FittedCosts::Requests& requests, double value, std::vector<std::string>& notes) {
  const auto depth = static_cast<std::int64_t>(value);
  if (depth > requests.depth)
    notes.push_back(fmt::format(
        "extrapolated from {} to {} requests of a reader at once: {}", requests.depth, depth,
        requests.queueing > 0 ? "what they wait for each other is taken to grow with their number"
                              : "the server is taken to answer each as fast"));
  requests.held = std::max<std::int64_t>(1, requests.held * depth / requests.depth);
  requests.depth = depth;
}

// Returns the requests of a reader in flight at another depth. If the present depth was not
// reached, there was nothing more to request.
double under_way(const FittedCosts::Requests& measured, double at_once, double depth) {
  const auto before = static_cast<double>(measured.depth);
  return at_once >= kReached * before ? at_once * depth / before : std::min(at_once, depth);
}

[[noreturn]] void refuse(const std::string& place, const std::string& why) {
  throw UsageError(place + why, "measure it with 'loaderscope run'");
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

void change_storage(FittedCosts& costs, const EnvironmentChange& change, const std::string& place,
                    std::vector<std::string>& notes) {
  const bool needs_requests =
      change.word == WorldWord::storage_in_flight || change.word == WorldWord::hit_rate;
  if (needs_requests && !costs.requests)
    refuse(place, costs.why_no_storage.empty() || costs.read_line
                      ? "the run's reads are no requests to servers, that are kept or made ahead"
                      : costs.why_no_storage);
  if (!costs.requests && !costs.read_line) refuse(place, costs.why_no_storage);
  switch (change.word) {
    case WorldWord::storage_latency:
      return set_latency(costs, change.value);
    case WorldWord::storage_bandwidth:
      return set_bandwidth(costs, change.value);
    case WorldWord::storage_in_flight:
      return set_in_flight(*costs.requests, change.value, notes);
    case WorldWord::hit_rate:
      costs.requests->hit_rate = change.value;
      notes.emplace_back("what a cache holds is taken to be there at once");
      return;
    case WorldWord::other_threads:
    case WorldWord::gpu_decode_rate:
    case WorldWord::gpu_augment_rate:
      return;
  }
}

void replace_storage(FittedCosts& costs, RunConfig& config, const SharedStorage& storage) {
  if (!costs.has_samples()) {
    std::erase_if(config.declared.cost.value,
                  [](const Cost& cost) { return cost.stage == Stage::read; });
    config.declared.storage_latency.set(storage.latency);
    config.declared.storage_bandwidth.set(storage.bandwidth);
    return;
  }
  // The waits of reads and the queueing of requests belong to the former storage.
  costs.read_line = FittedCosts::Line{};
  if (costs.requests) costs.requests->queueing = costs.requests->per_byte = 0;
  set_latency(costs, static_cast<double>(storage.latency));
  set_bandwidth(costs, storage.bandwidth);
  if (costs.requests || any_bytes(costs)) return;
  throw RunError(
      "the run does not say how many bytes a sample has, so --storage cannot be answered",
      "measure one that reads its files where loaderscope sees it");
}

void note_storage_beyond_seen(const FittedCosts& costs, Prediction& prediction) {
  if (!costs.requests || costs.requests->link_per_byte > 0 || costs.requests->per_byte <= 0) return;
  const FittedCosts::Requests& requests = *costs.requests;
  const double seen = std::max(requests.rate, kPerSecond / requests.per_byte);
  const double taken = prediction.samples_per_s / requests.samples * (1 - requests.hit_rate) *
                       static_cast<double>(requests.bytes);
  if (taken <= kAboutSeen * seen) return;
  prediction.may_be_off = std::max(prediction.may_be_off, 1 - seen / taken);
  prediction.notes.push_back(fmt::format(
      "it takes {} of the storage, of which this run saw {}, and whether there is more is not "
      "known; --set storage.bandwidth= says how much there is",
      format_byte_rate(taken), format_byte_rate(seen)));
}

void queue_in_proportion(FittedCosts& costs, const FittedCosts& measured, const RunConfig& before,
                         const RunConfig& after) {
  if (!costs.requests || !measured.requests) return;
  const auto readers = [](const RunConfig& config) {
    return static_cast<double>(std::max<std::int64_t>(1, config.loader.num_workers) *
                               config.trainer.ranks);
  };
  const FittedCosts::Requests& was = *measured.requests;
  if (was.in_flight - 1 < kMinOthers) return;
  const double now = readers(after) * under_way(was, was.in_flight / readers(before),
                                                static_cast<double>(costs.requests->depth));
  costs.requests->queueing *= std::max(0.0, now - 1) / (was.in_flight - 1);
}

void make_reads_faster(FittedCosts& costs, double factor) {
  if (!costs.requests) return;
  for (double* part : {&costs.requests->latency, &costs.requests->queueing,
                       &costs.requests->per_byte, &costs.requests->link_per_byte})
    *part /= factor;
}

}  // namespace loaderscope::model
