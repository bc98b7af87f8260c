// Findings about work of the workers that the GPU could do, by the rates that probe measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/findings/finding_input.h"
#include "analysis/gpu_rates.h"
#include "analysis/machine_ceilings.h"
#include "analysis/wording.h"
#include "loaderscope/units.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

constexpr double kMinWaitedForHost = 0.05;  // share of the window
constexpr double kMinJpegs = 0.8;           // share of the images that the engines decode

// Returns whether all images are made by workers whose samples are seen.
bool workers_make_all(const FindingInput& facts) {
  return facts.sees_inside() && facts.config.loader.num_workers > 0 &&
         !facts.config.makes_on_device() && !facts.has_arrays() && !is_of_video(facts);
}

// Returns the CPU time of the workers for these stages as a number of cores of one host.
double cores_of_workers(const FindingInput& facts, std::initializer_list<Stage> moved) {
  Nanos cpu = 0;
  for (const Stage stage : moved) cpu += facts.stages[stage].cpu;
  return facts.share(cpu) / static_cast<double>(facts.hosts());
}

// "; the GPU needs 3.5 ms of each step for it, which frees 6.1 of 8 cores"
std::string price_words(const FindingInput& facts, double sample_s, double cores) {
  const double step_s = sample_s * static_cast<double>(facts.config.loader.batch_size);
  std::string text = fmt::format("; the GPU needs {} of each step for it",
                                 format_duration(std::llround(step_s * 1e9)));
  if (cores > 0 && facts.config.declared.cores > 0)
    text +=
        fmt::format(", which frees {:.1f} of {}", cores, format_cores(facts.config.declared.cores));
  return text;
}

std::string word_of_rate(double seconds_each) {
  return fmt::format("{}/s", std::llround(1 / seconds_each));
}

Change declared_cost(Stage stage, double sample_s) {
  return {"cost",
          fmt::format("{}={}", name_of(stage), duration_to_text(std::llround(sample_s * 1e9)))};
}

// Adds the change that moves the work. A program has no setting for it, so that its change is one
// of the model. A simulated GPU must know its times to run it.
void add_change(const FindingInput& facts, const Change& move, double decode_s, double augment_s,
                Candidate& candidate) {
  Changes changes = {move};
  if (is_guest_engine(facts.record.engine)) {
    if (decode_s > 0) changes.push_back({"gpu.decode-rate", word_of_rate(decode_s)});
    changes.push_back({"gpu.augment-rate", word_of_rate(augment_s)});
    candidate.options = {changes};
    return;
  }
  candidate.options = {changes};
  candidate.advice = {{move.key, candidate.pytorch, true}};
  if (device_kind(facts.config.trainer.device.value) != DeviceKind::simulated) return;
  if (decode_s > 0) changes.push_back(declared_cost(Stage::gpu_decode, decode_s));
  changes.push_back(declared_cost(Stage::gpu_augment, augment_s));
  candidate.to_run = changes;
}

}  // namespace

double waited_for_host_augment(const FindingInput& facts) {
  const Account& account = facts.analysis.account;
  return facts.share(account.stall[Cause::augment] - account.device.augment);
}

std::optional<Candidate> decode_on_gpu(const FindingInput& facts) {
  const double waited = waited_for_host_decode(facts);
  if (waited < kMinWaitedForHost || !workers_make_all(facts)) return std::nullopt;
  const double jpegs = facts.metric(metric::decode_jpeg_share);
  const double decode_s = probed_decode_s(facts.record);
  const ProbedRates rates = probed_rates(facts.record);
  if (jpegs < kMinJpegs || decode_s <= 0 || rates.gpu_augment_sample_s <= 0) return std::nullopt;
  const double cores = cores_of_workers(facts, {Stage::decode, Stage::augment}) -
                       rates.gpu_decode_cpu_s * facts.analysis.samples_per_s.mean /
                           static_cast<double>(facts.hosts());
  Candidate candidate;
  candidate.evidence = fmt::format(
      "the trainer waits {} of the time for workers that decode, and {} of the images "
      "are JPEGs that the GPU decodes{}",
      format_percent(waited), format_percent(std::min(jpegs, 1.0)),
      price_words(facts, decode_s + rates.gpu_augment_sample_s, cores));
  candidate.pytorch =
      "decode whole batches on the GPU: torchvision.io.decode_jpeg(list, device=\"cuda\"), or "
      "DALI's decoder with device=\"mixed\"";
  add_change(facts, {"decode", "hw"}, decode_s, rates.gpu_augment_sample_s, candidate);
  return candidate;
}

std::optional<Candidate> augment_on_gpu(const FindingInput& facts) {
  const double waited = waited_for_host_augment(facts);
  if (waited < kMinWaitedForHost || !workers_make_all(facts)) return std::nullopt;
  const double augment_s = probed_rates(facts.record).gpu_augment_sample_s;
  if (augment_s <= 0) return std::nullopt;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "the trainer waits {} of the time for workers that augment{}", format_percent(waited),
      price_words(facts, augment_s, cores_of_workers(facts, {Stage::augment})));
  candidate.pytorch =
      "augment whole batches on the GPU: torchvision.transforms.v2 on tensors that are there";
  add_change(facts, {"augment-on", "gpu"}, 0, augment_s, candidate);
  return candidate;
}

}  // namespace loaderscope
