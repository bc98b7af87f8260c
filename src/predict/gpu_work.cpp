#include "predict/gpu_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/wording.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "predict/gpu_costs.h"
#include "predict/search_fix.h"

namespace loaderscope {
namespace {

constexpr double kPays = 1.01;           // times the rate of the workers
constexpr std::int64_t kMaxTimes = 4;    // times the workers of the run
constexpr std::int64_t kMaxTried = 256;  // workers
constexpr double kNanosOfOneSecond = 1e9;

double declared_s(const RunConfig& config, Stage stage) {
  const Cost* cost = config.declared_cost(stage);
  return cost == nullptr ? 0 : cost->amount.mean / kNanosOfOneSecond;
}

// Share of the samples that the GPU decodes.
double decoded_share(const RunConfig& config) {
  const DecodePlace& decode = config.image.decode.value;
  return decode.on_device() ? decode.share : 0;
}

std::int64_t samples_of_step(const RunConfig& config) {
  return std::max<std::int64_t>(1, config.loader.batch_size * config.trainer.ranks);
}

// Returns the CPU time of a sample that the GPU takes from the workers.
std::optional<double> freed_cpu_s(const RunRecord& record, const GpuRates& rates, double decoded) {
  double decode = 0, augment = 0, samples = 0;
  for (const RankRecord& rank : record.ranks) {
    decode += seconds(rank.stages[Stage::decode].cpu);
    augment += seconds(rank.stages[Stage::augment].cpu);
    samples += static_cast<double>(rank.samples);
  }
  if (samples <= 0 || decode + augment <= 0) return std::nullopt;
  return (decoded * decode + augment) / samples - decoded * rates.decode_cpu_s;
}

void add_freed_cores(const RunRecord& record, const Analysis& measured, const GpuRates& rates,
                     const RunConfig& config, GpuWork& work) {
  const std::optional<double> cpu = freed_cpu_s(record, rates, decoded_share(config));
  const double hosts = static_cast<double>(std::max<std::size_t>(1, record.hosts.size()));
  work.cores = record.config.declared.cores * hosts;
  if (!cpu || work.cores <= 0) return;
  work.freed_cores = std::clamp(*cpu * measured.samples_per_s.mean, 0.0, work.cores);
}

Changes with_workers(Changes changes, std::int64_t workers) {
  changes.push_back({"num-workers", std::to_string(workers)});
  return changes;
}

// Finds the number of workers from which on the CPU keeps up.
void search_workers(const FittedModel& model, const Changes& changes, const Prediction& predicted,
                    GpuWork& work) {
  const std::int64_t present = predicted.config.loader.num_workers;
  if (present < 1 || change_setting(changes, "num-workers")) return;
  const auto cores = static_cast<std::int64_t>(predicted.config.declared.cores);
  const std::int64_t most = std::min(kMaxTried, std::max(cores, kMaxTimes * present));
  const auto gain_at = [&](std::int64_t workers) {
    const double host = model.predict(with_workers({}, workers)).samples_per_s;
    const double gpu = model.predict(with_workers(changes, workers)).samples_per_s;
    return host > 0 ? gpu / host : 0;
  };
  try {
    const std::optional<std::int64_t> enough = smallest_sufficient(
        {0, present, most}, [&](std::int64_t workers) { return gain_at(workers) < kPays; });
    work.pays_up_to = enough ? *enough - 1 : most;
    work.max_workers = most;
    if (enough) work.loss_beyond = std::max(0.0, 1 - gain_at(*enough));
  } catch (const Error&) {  // such a number contradicts the other settings
  }
}

std::string joined_basis(const GpuRates& rates, const RunConfig& config, const Changes& changes) {
  const bool has_cost = std::any_of(changes.begin(), changes.end(),
                                    [](const Change& change) { return change.key == "cost"; });
  const auto is_given = [&](WorldWord word) {
    return has_cost || model::names_rate(changes, word);
  };
  std::string text;
  if (decoded_share(config) > 0 && !is_given(WorldWord::gpu_decode_rate)) text = rates.decode_basis;
  if (!is_given(WorldWord::gpu_augment_rate) && !rates.augment_basis.empty() && text.empty())
    text = rates.augment_basis;
  return text;
}

}  // namespace

std::optional<GpuWork> gpu_work(const FittedModel& model, const RunRecord* record,
                                const Analysis* measured, const Changes& changes,
                                const Prediction& predicted, double samples_per_s) {
  const RunConfig& config = predicted.config;
  const bool moves = change_setting(changes, "decode") || change_setting(changes, "augment-on");
  if (!moves || !config.makes_on_device() || !(samples_per_s > 0) ||
      (record != nullptr && record->config.makes_on_device()))
    return std::nullopt;
  GpuWork work;
  const double sample_s = decoded_share(config) * declared_s(config, Stage::gpu_decode) +
                          declared_s(config, Stage::gpu_augment);
  work.step_s = sample_s * static_cast<double>(config.loader.batch_size);
  const double step = static_cast<double>(samples_of_step(config)) / samples_per_s;
  work.share = work.step_s / step;
  if (const GpuRates* rates = model.gpu_rates()) {
    if (record != nullptr && measured != nullptr)
      add_freed_cores(*record, *measured, *rates, config, work);
    work.basis = joined_basis(*rates, config, changes);
  }
  search_workers(model, changes, predicted, work);
  if (const std::optional<Changes> own = model.with_own_stream(changes)) {
    const double rate = model.predict(*own).samples_per_s;
    if (rate > kPays * predicted.samples_per_s)
      work.own_stream_samples_per_s = samples_per_s * rate / predicted.samples_per_s;
  }
  return work;
}

std::string GpuWork::price_sentence() const {
  std::string text =
      fmt::format("it takes {} of GPU time a step ({})",
                  format_duration(std::llround(step_s * kNanosOfOneSecond)), format_percent(share));
  if (freed_cores)
    text += fmt::format(" and frees {:.1f} of {}", *freed_cores, format_cores(cores));
  return text;
}

std::string GpuWork::workers_sentence() const {
  if (!pays_up_to) return "";
  if (*pays_up_to >= max_workers)
    return fmt::format("it pays with any number of workers up to {}", max_workers);
  if (*pays_up_to == 0) return "it pays with no number of workers, as the CPU keeps up";
  std::string text = fmt::format("it pays with {} or fewer; with {} the CPU keeps up",
                                 plural(*pays_up_to, "worker"), *pays_up_to + 1);
  if (loss_beyond >= kAboutAsMuch)
    text += fmt::format(" and the GPU is {} slower", format_percent(loss_beyond));
  return text;
}

std::string GpuWork::own_stream_sentence() const {
  if (own_stream_samples_per_s <= 0) return "";
  return fmt::format("{} samples/s with a stream of its own, as DALI has",
                     format_rate(own_stream_samples_per_s));
}

std::string GpuWork::basis_sentence() const { return basis.empty() ? "" : "it uses " + basis; }

}  // namespace loaderscope
