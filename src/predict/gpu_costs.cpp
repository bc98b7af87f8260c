#include "predict/gpu_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"

namespace loaderscope::model {
namespace {

// One kind of work, by the host and by the GPU.
struct GpuStage {
  Stage stage;
  WorldWord word;
  std::string_view setting;  // moves the work
  std::string_view example;  // value for the word
  double GpuRates::*time;
  std::string GpuRates::*basis;
  std::optional<TakenShare> GpuRates::*taken;
};

constexpr std::array kGpuStages = {
    GpuStage{Stage::gpu_decode, WorldWord::gpu_decode_rate, "decode", "gpu.decode-rate=22000/s",
             &GpuRates::decode_s, &GpuRates::decode_basis, &GpuRates::decode_taken},
    GpuStage{Stage::gpu_augment, WorldWord::gpu_augment_rate, "augment-on",
             "gpu.augment-rate=1000000/s", &GpuRates::augment_s, &GpuRates::augment_basis,
             &GpuRates::augment_taken},
};

bool is_on_gpu(const RunConfig& config, Stage stage) {
  const bool decodes = config.image.decode.value.on_device();
  return decodes || (stage == Stage::gpu_augment && config.image.augment_on == AugmentOn::gpu);
}

bool declares_speed(const RunConfig& config, Stage stage) {
  const auto& speeds = config.declared.shared_speed.value;
  return std::any_of(speeds.begin(), speeds.end(),
                     [&](const SharedSpeed& speed) { return speed.stage == stage; });
}

[[noreturn]] void refuse_unknown_time(const GpuStage& row, const std::string& gpus,
                                      const Changes& changes) {
  const auto named = std::find_if(changes.begin(), changes.end(), [](const Change& change) {
    const Field* field = find_field(change.key);
    return field != nullptr && (field->name == "decode" || field->name == "augment-on");
  });
  const std::string place =
      named == changes.end() ? std::string(row.setting) : change_place(*named);
  throw UsageError(fmt::format("{}: the time of {}{} is unknown", place, name_of(row.stage),
                               gpus.empty() ? "" : " on " + shown_text(gpus)),
                   fmt::format("run 'loaderscope probe' there, or give --set {}", row.example));
}

double taken_at(const TakenShare& taken, Amount amount) {
  if (amount == Amount::usual) return taken.middle();
  return amount == Amount::least ? taken.least : taken.most;
}

void add_time(const GpuStage& row, const GpuRates& rates, Amount amount, GpuCosts& costs) {
  double time = rates.*row.time;
  if (row.stage == Stage::gpu_decode && rates.decode_error > 0) {
    costs.is_uncertain = true;
    if (amount != Amount::usual)
      time *= 1 + (amount == Amount::least ? -rates.decode_error : rates.decode_error);
  }
  const auto ns = std::clamp<Nanos>(std::llround(time * 1e9), 1, kMaxCost);
  costs.added.push_back({"cost", fmt::format("{}={}", name_of(row.stage), duration_to_text(ns))});
  costs.notes.push_back(
      fmt::format("{} takes the time of {}", name_of(row.stage), rates.*row.basis));
  if (row.stage == Stage::gpu_decode && !rates.assumption.empty())
    costs.notes.push_back(rates.assumption);
}

// The training loses nothing if the share is unknown.
void add_speed(const GpuStage& row, const GpuRates& rates, GpuStream stream, Amount amount,
               GpuCosts& costs) {
  if (stream == GpuStream::training) {
    costs.added.push_back({"shared-speed", fmt::format("{}=0:1", name_of(row.stage))});
    costs.follows_training = true;
    return;
  }
  const TakenShare taken = (rates.*row.taken).value_or(TakenShare{});
  const double left = std::max(0.0, 1 - taken_at(taken, amount));
  costs.added.push_back({"shared-speed", fmt::format("{}={}:1", name_of(row.stage),
                                                     real_to_text(std::round(left * 1e4) / 1e4))});
  costs.is_uncertain = costs.is_uncertain || taken.most > taken.least;
}

}  // namespace

bool names_rate(const Changes& changes, WorldWord word) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    const auto world = find_environment_change(change);
    return world && world->word == word;
  });
}

GpuCosts gpu_costs(const GpuRates& rates, const std::string& gpus, const RunConfig& before,
                   const RunConfig& after, const Changes& changes, GpuStream stream,
                   Amount amount) {
  GpuCosts costs;
  for (const GpuStage& row : kGpuStages) {
    if (!is_on_gpu(after, row.stage) || is_on_gpu(before, row.stage)) continue;
    if (after.declared_cost(row.stage) == nullptr && !names_rate(changes, row.word)) {
      if (rates.*row.time <= 0) refuse_unknown_time(row, gpus, changes);
      add_time(row, rates, amount, costs);
    }
    if (!declares_speed(after, row.stage)) add_speed(row, rates, stream, amount, costs);
  }
  if (costs.follows_training)
    costs.notes.emplace_back(
        "the GPU works for the loader on the stream of the training, which waits for it, as for "
        "decode_jpeg(device=\"cuda\")");
  return costs;
}

}  // namespace loaderscope::model
