// Findings about the way of a batch to the device.
#include <fmt/format.h>

#include "analysis/findings/facts.h"
#include "analysis/totals.h"
#include "analysis/wording.h"
#include "settings/engine_table.h"
#include "settings/resolve_guest.h"

namespace loaderscope {
namespace {

// Copies on a stream of their own run beside the compute only where a step more may be in flight.
std::vector<Changes> with_overlap(const Facts& facts, Changes changes) {
  changes.push_back({"copy", "stream"});
  std::vector<Changes> options = {changes};
  if (facts.config.trainer.in_flight > 1) return options;
  changes.push_back({"in-flight", "2"});
  options.push_back(std::move(changes));
  return options;
}

// " at 7.75 GB/s"; "" where it is not known.
std::string rate_words(const Facts& facts) {
  const std::optional<double> rate = copy_rate(facts.record);
  return rate ? " at " + show_byte_rate(*rate) : "";
}

}  // namespace

std::optional<Candidate> pageable_copies(const Facts& facts) {
  if (facts.config.loader.memory != MemoryMode::pageable || facts.share(Cause::h2d) < kWorthSaying)
    return std::nullopt;
  Candidate candidate{fmt::format("batches are copied from pageable memory{}, by the trainer "
                                  "itself: {} of the time",
                                  rate_words(facts), show_percent(facts.share(Cause::h2d))),
                      {{{"memory", "pin-thread"}}, {{"memory", "pinned-slots"}}},
                      fmt::format("{}; then {}", loader_words(facts.record, {"pin_memory=True"}),
                                  framework_of(facts.record).copies)};
  for (Changes& changes : with_overlap(facts, {{"memory", "pin-thread"}}))
    candidate.options.push_back(std::move(changes));
  return candidate;
}

std::optional<Candidate> copy_not_overlapped(const Facts& facts) {
  const bool can_overlap = facts.config.trainer.copy != CopyMode::stream &&
                           facts.config.loader.memory != MemoryMode::pageable;
  if (!can_overlap || facts.share(Cause::h2d) < kWorthSaying) return std::nullopt;
  const std::string how =
      trains_itself(facts.config)
          ? ""
          : fmt::format(" (--copy {})", name_of(facts.config.trainer.copy.value));
  return Candidate{fmt::format("the device computes nothing while it copies{}: {} of the time", how,
                               show_percent(facts.share(Cause::h2d))),
                   with_overlap(facts, {}),
                   "copy the next batch ahead: with torch.cuda.stream(side): batch.to(device, "
                   "non_blocking=True); torch.cuda.current_stream().wait_stream(side) before its "
                   "step"};
}

// Of what a batch has for each element, a byte is enough.
std::optional<Candidate> too_many_bytes_to_copy(const Facts& facts) {
  const RunConfig& config = facts.config;
  const bool overlaps =
      config.trainer.copy == CopyMode::stream && config.loader.memory != MemoryMode::pageable;
  if (!overlaps || config.image.transfer == Transfer::u8 || facts.share(Cause::h2d) < kWorthSaying)
    return std::nullopt;
  const StageStats& copy = facts.stages[Stage::h2d];
  const Nanos each = copy.count > 0 ? copy.wall / copy.count : 0;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "copies have a stream of their own, take {} each and are waited for {} of the time: a batch "
      "has too many bytes for the link",
      show_duration(each), show_percent(facts.share(Cause::h2d)));
  const bool is_byte_enough = config.image.transfer == Transfer::f32 && !facts.has_arrays();
  candidate.options = {{{"h2d.speed", is_byte_enough ? "4" : "2"}}};
  candidate.pytorch =
      facts.has_arrays()
          ? "arrays of fewer bytes (float16), made floats on the GPU: batch.to(device, "
            "non_blocking=True).float()"
          : "batches of uint8, made floats on the GPU: batch.to(device, non_blocking=True).float()"
            ".div_(255); else of float16";
  const bool ours = is_native_engine(config.engine.value) || is_model_engine(config.engine.value);
  if (ours && !facts.has_arrays() && !config.data.delivered_bytes.given &&
      config.cost_of(Stage::h2d) == nullptr)
    candidate.to_run = {{"transfer", "u8"}};
  return candidate;
}

std::optional<Candidate> pinning_costs_more(const Facts& facts) {
  if (facts.config.loader.memory != MemoryMode::pin_thread ||
      facts.share(Cause::pin) < kWorthSaying)
    return std::nullopt;
  return Candidate{fmt::format("the thread that copies batches into page-locked memory is waited "
                               "for {} of the time",
                               show_percent(facts.share(Cause::pin))),
                   {{{"memory", "pageable"}}},
                   loader_words(facts.record, {"pin_memory=False"})};
}

std::optional<Candidate> pin_thread_limit(const Facts& facts) {
  const StageStats& pin = facts.stages[Stage::pin];
  if (facts.config.loader.memory != MemoryMode::pin_thread || pin.count == 0 ||
      facts.share(Cause::pin) < kWorthSaying)
    return std::nullopt;
  return Candidate{
      fmt::format("one thread copies the batches of all workers into page-locked "
                  "memory, {} each: {} of the time",
                  show_duration(pin.wall / pin.count), show_percent(facts.share(Cause::pin))),
      {{{"pin.speed", "2"}}},
      "fewer bytes per batch (uint8, made floats on the GPU) in few large tensors: the "
      "thread copies each tensor of a batch by itself"};
}

}  // namespace loaderscope
