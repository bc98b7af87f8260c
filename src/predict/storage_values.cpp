#include "predict/storage_values.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/wording.h"
#include "engine/pipeline/fitted_costs.h"
#include "record/environment_changes.h"

namespace loaderscope {
namespace {

constexpr double kNanosPerSecond = 1e9;
constexpr double kNoticeableQueue = 0.02;  // share of a latency

std::string shown(double value, const std::string& unit) {
  if (unit == "s") return format_duration(std::llround(value * kNanosPerSecond));
  if (unit == "bytes/s") return format_byte_rate(value);
  return fmt::format("{:.3g}", value);
}

std::string latency_basis(const FittedCosts::Requests& requests) {
  if (requests.alone <= 0)
    return "no request was alone: it holds what requests waited for each other";
  std::string text = (requests.is_mean || requests.alone < 2 ? "of " : "the shortest of ") +
                     plural(std::llround(requests.alone), "such request");
  if (requests.queueing > kNoticeableQueue * requests.latency)
    text += fmt::format("; the {} more with {:.1f} in flight stay",
                        format_duration(std::llround(requests.queueing)), requests.in_flight);
  return text;
}

std::string bandwidth_basis(const FittedCosts::Requests& requests) {
  if (requests.link_per_byte > 0) return "it is full";
  const std::string used = "what is used; it is not full";
  const double bytes = requests.per_byte * static_cast<double>(requests.bytes);
  if (bytes <= requests.latency + requests.queueing) return used;
  return used + fmt::format(", and each request brings {} by itself",
                            format_byte_rate(kNanosPerSecond / requests.per_byte));
}

// Fills in the present value from requests that were counted.
void fill_now(const FittedCosts::Requests& requests, WorldWord word, StorageValue& value) {
  switch (word) {
    case WorldWord::storage_latency:
      value.now = requests.latency / kNanosPerSecond;
      value.basis = latency_basis(requests);
      return;
    case WorldWord::storage_bandwidth:
      value.now =
          requests.link_per_byte > 0 ? kNanosPerSecond / requests.link_per_byte : requests.rate;
      value.basis = bandwidth_basis(requests);
      return;
    case WorldWord::storage_in_flight:
      value.now = static_cast<double>(requests.depth);
      value.basis = fmt::format("{:.1f} of all readers on average", requests.in_flight);
      return;
    case WorldWord::hit_rate:
      value.now = requests.hit_rate;
      return;
    case WorldWord::other_threads:
    case WorldWord::gpu_decode_rate:
    case WorldWord::gpu_augment_rate:
      return;
  }
}

// Fills in the present value from the fit of reads.
void fill_now(const FittedCosts& costs, const FittedCosts::Line& line, WorldWord word,
              StorageValue& value) {
  if (word == WorldWord::storage_latency) {
    value.now = line.latency / kNanosPerSecond;
    value.basis = "by a line through the reads, with what they wait for each other";
  } else if (word == WorldWord::storage_bandwidth && line.per_byte > 0) {
    value.now = costs.storage_streams * kNanosPerSecond / line.per_byte;
    value.basis = fmt::format("by a line through the reads: {} with {} each",
                              plural(std::llround(costs.storage_streams), "reader"),
                              format_byte_rate(kNanosPerSecond / line.per_byte));
  }
}

void fill_declared(const RunConfig& config, WorldWord word, StorageValue& value) {
  value.basis = "as declared";
  if (word == WorldWord::storage_latency)
    value.now = static_cast<double>(config.declared.storage_latency.value) / kNanosPerSecond;
  if (word == WorldWord::storage_bandwidth) value.now = config.declared.storage_bandwidth.value;
  if (word == WorldWord::storage_in_flight)
    value.now = static_cast<double>(config.data.queue_depth.value);
}

}  // namespace

std::string StorageValue::sentence() const {
  return fmt::format("{} {} -> {}: {}{}", key, now ? shown(*now, unit) + " now" : "not known now",
                     shown(then, unit), meaning, basis.empty() ? "" : " (" + basis + ")");
}

namespace model {

std::vector<StorageValue> storage_values(const FittedCosts& costs, const RunConfig& config,
                                         const Changes& changes) {
  std::vector<StorageValue> values;
  for (const Change& change : changes) {
    const std::optional<EnvironmentChange> world = find_environment_change(change);
    if (!world || world->word == WorldWord::other_threads || is_about_gpu(world->word)) continue;
    const bool is_time = world->word == WorldWord::storage_latency;
    StorageValue value;
    value.key = change.key;
    value.then = is_time ? world->value / kNanosPerSecond : world->value;
    value.unit = world->unit;
    value.meaning = world->meaning;
    if (!costs.has_samples())
      fill_declared(config, world->word, value);
    else if (costs.requests)
      fill_now(*costs.requests, world->word, value);
    else if (costs.read_line)
      fill_now(costs, *costs.read_line, world->word, value);
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace model
}  // namespace loaderscope
