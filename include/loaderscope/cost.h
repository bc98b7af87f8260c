// Declared costs: what a stage takes when it is described instead of run, and delays injected into
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/rows.h"
#include "loaderscope/units.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope {

// A non-negative random value. `mean` has the unit of the caller (ns, bytes).
struct Distribution {
  enum class Shape : std::uint8_t { constant, lognormal, exponential, uniform };
  Shape shape = Shape::constant;
  double mean = 0;
  double spread = 0;  // lognormal: sigma of ln; uniform: half the width; otherwise 0

  // The value below which a draw falls with probability `u`, 0 < u < 1.
  double quantile(double u) const;
};

inline constexpr Nanos kMaxCost = Nanos{30} * 24 * 3600 * kSecond;  // 30 days

// Resource of a stage: a core, or only time.
enum class CostKind : std::uint8_t { cpu, sleep };

// --cost STAGE=[DIST:]VALUE[:p99=V][:cpu|:sleep]
// VALUE is a duration, or a rate in bytes per second: of the sample's stored bytes for read, decode
// and augment, of the batch's delivered bytes for the stages of a batch.
struct Cost {
  Stage stage = Stage::decode;
  bool is_rate = false;
  Distribution amount;  // ns, or bytes per second
  CostKind kind = CostKind::cpu;
  std::string text;  // text of the user, for the record

  // Integer ns of one execution that handles `bytes`, for a draw 0 < u < 1. Saturates at 30 days.
  // A rate gives the time bytes / mean rate, spread as the distribution of the rate is relative to
  // its mean.
  Nanos draw(double u, Bytes bytes) const {
    return is_fixed() ? static_cast<Nanos>(amount.mean) : draw_varying(u, bytes);
  }

  bool is_fixed() const { return !is_rate && amount.shape == Distribution::Shape::constant; }
  bool needs_draw() const {
    return amount.shape != Distribution::Shape::constant;
  }  // other distributions ignore `u`
  Nanos draw_varying(double u, Bytes bytes) const;
};

// --inject STAGE=+150ms[@p=0.01][@every=100][@rank=1][@worker=0]: added to a stage, declared or
// real.
struct Injection {
  Stage stage = Stage::decode;
  Nanos extra = 0;
  double probability = 1;
  std::int64_t every = 1;            // interval: each Nth sample, batch or step of a rank; 1: all
  std::optional<std::int64_t> rank;  // the only rank; empty: all ranks
  std::optional<std::int64_t> worker;
  std::string text;
};

// read, startup and h2d wait, every other stage burns a core, unless declared otherwise.
CostKind default_cost_kind(Stage stage);

// ceil(bytes / rate) in ns, at most kMaxCost.
Nanos transfer_time(Bytes bytes, double bytes_per_second);

Cost parse_cost(std::string_view text);            // throws ValueError
Injection parse_injection(std::string_view text);  // throws ValueError
// [lognormal:|exponential:|uniform:]VALUE..., VALUE read by `parse_value`.
Distribution parse_distribution(std::string_view text, double (*parse_value)(std::string_view));
// The spelling that parse_distribution reads back to the same distribution; `value_to_text` spells
// one value.
std::string distribution_to_text(const Distribution& distribution,
                                 std::string (*value_to_text)(double));
// The same of times: VALUE is a duration of at most kMaxCost.
Distribution parse_time_distribution(std::string_view text);
std::string time_distribution_to_text(const Distribution& distribution);

// The stages that --cost may declare, in the order of the pipeline; --inject takes these and
// compute.
const std::vector<Stage>& cost_stages();

// The draws of a run: a hash of (seed, epoch, index, stage), so that every engine draws the same
// for the same sample whatever the order, the workers and the machine. 0 < result < 1.
double uniform_draw(std::uint64_t seed, std::int64_t epoch, std::int64_t index, Stage stage,
                    std::uint32_t salt = 0);

// Place in the data set of position `i` in a full shuffle of `n` samples: a bijection on [0, n)
// that needs no memory. n up to 2^62.
std::int64_t shuffled_index(std::int64_t i, std::int64_t n, std::uint64_t seed, std::int64_t epoch);

// --compute [gemm:]DURATION | [gemm:]PRESET. The distribution is that of a step's time in ns.
struct Compute : Distribution {
  bool gemm = false;           // matrix products instead of a kernel that spins
  std::string preset{};        // "" for a time that was given
  std::int64_t per_batch = 0;  // samples whose time it is; 0: of a batch, whatever its size
};

// The time that a training step of a known model takes on a known GPU.
struct ComputePreset {
  Row row;
  Nanos time;
  std::int64_t batch_size;
};

std::span<const ComputePreset> compute_presets();  // src/base/compute.cpp

Compute parse_compute(std::string_view text);  // throws ValueError
std::string compute_to_text(const Compute& compute);

}  // namespace loaderscope
