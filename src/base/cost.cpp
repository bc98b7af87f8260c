#include "loaderscope/cost.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "base/distribution.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

Nanos saturated(double ns) {
  if (!(ns > 0)) return 0;
  if (ns >= static_cast<double>(kMaxCost)) return kMaxCost;
  return std::llround(ns);
}

const char* why_no_cost(Stage stage) {
  switch (stage) {
    case Stage::compute:
      return "compute has its own flag: --compute 12ms";
    case Stage::opaque:
      return "opaque is what cannot be seen inside another loader";
    case Stage::idle:
      return "idle is what a worker does without work";
    default:
      return nullptr;
  }
}

Stage parse_stage(std::string_view name, std::initializer_list<Stage> more) {
  const auto stage = value_of<Stage>(name);
  std::vector<std::string_view> names;
  for (Stage own : cost_stages()) names.push_back(name_of(own));
  for (Stage other : more) names.push_back(name_of(other));
  if (stage && std::find(names.begin(), names.end(), name) != names.end()) return *stage;
  if (stage && why_no_cost(*stage) != nullptr) throw ValueError(why_no_cost(*stage));
  std::string expected = "expected STAGE=VALUE with a stage of";
  for (std::string_view known : names) expected += " " + std::string(known);
  throw ValueError(expected + suggestion(name, names));
}

// Splits STAGE=REST.
std::pair<std::string_view, std::string_view> split_stage(std::string_view text,
                                                          const char* expected) {
  const auto equals = text.find('=');
  if (equals == text.npos || equals == 0) throw ValueError(expected);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// Cuts ":cpu" or ":sleep" off the end.
std::optional<CostKind> take_kind(std::string_view& text) {
  for (const auto& [ending, kind] : {std::pair<std::string_view, CostKind>{":cpu", CostKind::cpu},
                                     {":sleep", CostKind::sleep}}) {
    if (!text.ends_with(ending)) continue;
    text.remove_suffix(ending.size());
    return kind;
  }
  return std::nullopt;
}

double duration_value(std::string_view text) { return static_cast<double>(parse_duration(text)); }

double parse_probability(std::string_view text) {
  const double p = parse_real(text);
  if (!(p > 0) || p > 1) throw ValueError("expected @p= above 0 and at most 1");
  return p;
}

void read_option(Injection& injection, std::string_view option) {
  const auto [key, value] = split_stage(option, "expected @p=, @every=, @rank= or @worker=");
  if (key == "p") {
    injection.probability = parse_probability(value);
  } else if (key == "every") {
    injection.every = parse_count(value);
    if (injection.every < 1) throw ValueError("expected @every= of at least 1");
  } else if (key == "rank") {
    injection.rank = parse_count(value);
  } else if (key == "worker") {
    injection.worker = parse_count(value);
  } else {
    throw ValueError("expected @p=, @every=, @rank= or @worker=" +
                     suggestion(key, {"every", "rank", "worker"}));
  }
}

}  // namespace

// Exact wherever the rate is a whole number of bytes per second.
Nanos transfer_time(Bytes bytes, double rate) {
  if (bytes <= 0) return 0;
  constexpr auto kPerSecond = static_cast<std::uint64_t>(kSecond);
  const auto count = static_cast<std::uint64_t>(bytes);
  if (count <= UINT64_MAX / kPerSecond - 1 && rate == std::floor(rate) && rate < 9e18) {
    const auto whole_rate = static_cast<std::uint64_t>(rate);
    const std::uint64_t product = count * kPerSecond;
    const std::uint64_t ns = product / whole_rate + (product % whole_rate == 0 ? 0 : 1);
    return static_cast<Nanos>(std::min(ns, static_cast<std::uint64_t>(kMaxCost)));
  }
  const long double ns = std::ceil(static_cast<long double>(bytes) * 1e9L / rate);
  return ns >= static_cast<long double>(kMaxCost) ? kMaxCost : static_cast<Nanos>(ns);
}

CostKind default_cost_kind(Stage stage) {
  const bool waits =
      stage == Stage::read || stage == Stage::startup || stage == Stage::h2d || is_on_device(stage);
  return waits ? CostKind::sleep : CostKind::cpu;
}

const std::vector<Stage>& cost_stages() {
  static const std::vector<Stage> stages = {
      Stage::read,       Stage::read_decompress, Stage::decode,         Stage::augment,
      Stage::collate,    Stage::transport,       Stage::transport_recv, Stage::pin,
      Stage::h2d,        Stage::launch,          Stage::startup,        Stage::startup_parent,
      Stage::gpu_decode, Stage::gpu_augment};
  return stages;
}

Nanos Cost::draw_varying(double u, Bytes bytes) const {
  if (!is_rate) return saturated(amount.quantile(u));
  if (amount.shape == Distribution::Shape::constant) return transfer_time(bytes, amount.mean);
  Distribution time = amount;
  time.mean = static_cast<double>(bytes) * 1e9 / amount.mean;
  if (time.shape == Distribution::Shape::uniform) time.spread *= time.mean / amount.mean;
  return saturated(time.quantile(u));
}

Cost parse_cost(std::string_view text) {
  const auto [name, rest] = split_stage(text, "expected STAGE=VALUE such as decode=8ms");
  Cost cost;
  cost.stage = parse_stage(name, {});
  cost.text = text;
  std::string_view value = rest;
  const std::optional<CostKind> kind = take_kind(value);
  if (kind && is_on_device(cost.stage))
    throw ValueError("expected a duration such as 45us: " + std::string(name) +
                     " takes time of the device, and no core");
  cost.kind = kind.value_or(default_cost_kind(cost.stage));
  cost.is_rate = value.find("/s") != value.npos;
  const bool has_bytes = !is_startup(cost.stage);
  if (cost.is_rate && !has_bytes) {
    throw ValueError("expected a duration such as 12ms: " + std::string(name) +
                     " handles no bytes");
  }
  cost.amount =
      parse_distribution(value, cost.is_rate ? parse_byte_rate : duration_value, cost.is_rate);
  const double longest =
      cost.amount.mean +
      (cost.amount.shape == Distribution::Shape::uniform ? cost.amount.spread : 0);
  if (!cost.is_rate && longest > static_cast<double>(kMaxCost)) {
    throw ValueError("expected a duration of at most 30 days");
  }
  return cost;
}

Injection parse_injection(std::string_view text) {
  static constexpr const char* kForm =
      "expected STAGE=+DURATION[@p=][@every=][@rank=][@worker=] such as decode=+150ms@p=0.01";
  auto [name, rest] = split_stage(text, kForm);
  Injection injection;
  injection.stage = parse_stage(name, {Stage::compute, Stage::opaque});
  injection.text = text;
  if (!rest.starts_with('+')) throw ValueError(kForm);
  rest.remove_prefix(1);
  auto end = rest.find('@');
  injection.extra = parse_duration(rest.substr(0, end));
  if (injection.extra > kMaxCost) throw ValueError("expected a duration of at most 30 days");
  std::vector<std::string_view> seen;
  while (end != rest.npos) {
    rest.remove_prefix(end + 1);
    end = rest.find('@');
    const std::string_view option = rest.substr(0, end);
    const std::string_view key = option.substr(0, option.find('='));
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
      throw ValueError("expected @" + std::string(key) + "= only once");
    }
    seen.push_back(key);
    read_option(injection, option);
  }
  return injection;
}

}  // namespace loaderscope
