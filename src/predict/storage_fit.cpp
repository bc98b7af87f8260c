#include "predict/storage_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/read_fit.h"
#include "analysis/request_times.h"
#include "analysis/wording.h"
#include "source/readers.h"

namespace loaderscope::model {
namespace {

constexpr double kNoticeable = 0.01;  // share of the samples' time; shorter waits need no fit
constexpr double kMaxMissed = 0.1;    // share of the run's rate
constexpr double kNearlyOne = 0.1;
constexpr double kSameRate = 0.01;
constexpr double kMaxWaiting = 2;  // times as long as a request
constexpr int kOrderHalvings = 6;
constexpr std::int64_t kMaxPieces = 4;  // pieces of a stream that are read ahead
constexpr double kNanos = 1e9;

// The part of each wait that the line puts down to its bytes becomes a transfer.
void split_reads(FittedCosts& costs, double per_byte) {
  for (FittedCosts::Rank& rank : costs.ranks) {
    for (FittedCosts::Sample& sample : rank.samples) {
      StageTime& read = sample.stages.front();
      const double transfer = per_byte * static_cast<double>(sample.bytes);
      read.transfers = static_cast<Nanos>(std::min(transfer, static_cast<double>(read.waits)));
      read.waits -= read.transfers;
    }
  }
}

void fit_line(FittedCosts& costs, const RunRecord& record, std::vector<std::string>& notes) {
  const RunConfig& config = record.config;
  const ReadFit line = fit_reads(record);
  if (line.share < kNoticeable) {
    costs.why_no_storage = fmt::format("reads wait {} of the samples' time: they come from memory",
                                       format_percent(line.share));
    return;
  }
  if (!line.separable) {
    costs.why_no_storage =
        "reads of more bytes did not wait longer, so latency and bandwidth "
        "cannot be separated";
    notes.push_back(
        "latency and bandwidth of the storage cannot be separated, so reads keep the time that "
        "they "
        "waited, however many run at once");
    return;
  }
  split_reads(costs, line.per_byte);
  costs.read_line = FittedCosts::Line{line.latency, line.per_byte};
  const std::int64_t readers =
      std::max<std::int64_t>(1, config.loader.num_workers) * config.trainer.ranks;
  costs.storage_streams = static_cast<double>(readers);
  notes.push_back(fmt::format(
      "reads wait {} and then {} each with {} at once; more than that are taken to share it",
      format_duration(static_cast<Nanos>(line.latency)), format_byte_rate(kNanos / line.per_byte),
      readers));
}

double mean_stored_bytes(const FittedCosts& costs) {
  double bytes = 0, samples = 0;
  for (const FittedCosts::Rank& rank : costs.ranks) {
    for (const FittedCosts::Sample& sample : rank.samples)
      bytes += static_cast<double>(sample.bytes);
    samples += static_cast<double>(rank.samples.size());
  }
  return samples > 0 ? bytes / samples : 0;
}

double measured_hit_rate(const RunRecord& record) {
  const double hits = value_of(record.metrics, metric::range_cache_hits).value_or(0);
  const double misses = value_of(record.metrics, metric::range_cache_misses).value_or(0);
  return hits + misses > 0 ? hits / (hits + misses) : 0;
}

// Samples that a request brings: several that lie side by side, or the piece of a stream.
double samples_per_request(const FittedCosts& costs, const RunRecord& record,
                           const RequestTimes& counted) {
  const double unpacked = value_of(record.metrics, metric::source_unpacked_per_byte).value_or(1);
  const double sample = mean_stored_bytes(costs);
  if (sample <= 0) return 1;
  // Only streams are cut into pieces that may be less than a sample.
  const double least = costs.shards > 0 ? 1e-3 : 1;
  const double samples = std::max(counted.bytes * unpacked / sample, least);
  return std::abs(samples - 1) < kNearlyOne ? 1 : samples;
}

FittedCosts::Requests fit_requests(const FittedCosts& costs, const RunRecord& record,
                                   const RequestTimes& counted) {
  FittedCosts::Requests requests;
  requests.latency = counted.latency() * kNanos;
  requests.alone = counted.counted_alone;
  requests.is_mean = counted.alone_is_mean;
  requests.in_flight = counted.in_flight;
  requests.rate = counted.rate();
  requests.bytes = std::llround(counted.bytes);
  requests.samples = samples_per_request(costs, record, counted);
  requests.hit_rate = measured_hit_rate(record);
  const bool is_stream = costs.shards > 0;
  const std::int64_t depth = record.config.data.queue_depth;
  requests.depth = is_stream ? std::min(depth, kMaxPieces) : depth;
  requests.held =
      is_stream ? requests.depth
                : std::clamp<std::int64_t>(source::kMaxReadAhead / requests.bytes, 1, 2 * depth);
  // The findings say so, too. What waits for others then waits for the link, also in the model.
  if (counted.is_full()) {
    requests.link_per_byte = counted.on_link() * kNanos / counted.bytes;
  } else if (counted.is_limited_each()) {
    requests.per_byte = (counted.all - counted.latency()) * kNanos / counted.bytes;
  } else {
    requests.queueing = counted.queueing() * kNanos;
    requests.per_byte = (counted.all - counted.first_byte) * kNanos / counted.bytes;
  }
  return requests;
}

// Samples are taken in their order: some wait for others that were late, which the mean time of a
// request does not say.
template <class IsTooFast>
void wait_in_order(FittedCosts::Requests& requests, const IsTooFast& is_too_fast) {
  double low = 1, high = kMaxWaiting;
  for (int i = 0; i < kOrderHalvings; ++i) {
    requests.waiting = (low + high) / 2;
    (is_too_fast() ? low : high) = requests.waiting;
  }
}

double read_rate(const RunRecord& record) {
  double rate = 0;
  for (const RankRecord& rank : record.ranks) {
    if (rank.window() > 0) rate += static_cast<double>(rank.samples) / seconds(rank.window());
  }
  return rate;
}

// "a request takes 5.1 ms to its first byte, 3.9 ms more with 3.8 others under way, and then ..."
std::string requests_note(const FittedCosts::Requests& fitted) {
  std::string text = fmt::format("a request takes {} to its first byte",
                                 format_duration(std::llround(fitted.latency)));
  if (fitted.queueing >= kNearlyOne * fitted.latency)
    text += fmt::format(" if no other is in flight, {} more with {:.1f} in flight",
                        format_duration(std::llround(fitted.queueing)), fitted.in_flight);
  if (fitted.link_per_byte > 0)
    text += fmt::format(" and then shares {} with all others",
                        format_byte_rate(kNanos / fitted.link_per_byte));
  if (fitted.per_byte > 0)
    text += fmt::format(" and then brings {}", format_byte_rate(kNanos / fitted.per_byte));
  return text + fmt::format("; a reader has up to {} under way", fitted.depth);
}

bool delays_reads(const RunConfig& config) {
  const auto& injections = config.declared.inject.value;
  return std::any_of(injections.begin(), injections.end(),
                     [](const Injection& i) { return i.stage == Stage::read; });
}

}  // namespace

void fit_storage(FittedCosts& costs, const RunRecord& record, std::vector<std::string>& notes) {
  const std::optional<RequestTimes> counted = request_times(record);
  if (!counted || delays_reads(record.config)) return fit_line(costs, record, notes);
  costs.requests = fit_requests(costs, record, *counted);
}

void check_requests(FittedCosts& costs, const RunRecord& record,
                    const std::function<RunRecord(const FittedCosts&)>& run,
                    std::vector<std::string>& notes) {
  if (!costs.requests) return;
  const double measured = read_rate(record);
  if (measured <= 0) return costs.requests.reset();
  const auto missed = [&] { return read_rate(run(costs)) / measured - 1; };
  double off = missed();
  if (off > kSameRate) {
    wait_in_order(*costs.requests, [&] { return missed() > 0; });
    off = missed();
  }
  const FittedCosts::Requests fitted = *costs.requests;
  if (std::abs(off) > kMaxMissed) {
    costs.requests.reset();
    costs.why_no_storage = fmt::format(
        "the model of its requests misses the measured rate by {:+.0f} %, so it is not used",
        100 * off);
    return;
  }
  notes.push_back(requests_note(fitted));
  if (fitted.waiting > 1 + kNearlyOne)
    notes.push_back(fmt::format(
        "samples are taken in their order: each waits {:.2f} times as long as a request takes",
        fitted.waiting));
}

}  // namespace loaderscope::model
