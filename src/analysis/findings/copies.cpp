// Findings about the way of a batch to the device.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/finding_input.h"
#include "analysis/totals.h"
#include "analysis/verdict.h"
#include "analysis/wording.h"
#include "record/config_facts.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

// Copies on their own stream overlap the compute only if one more step may be in flight.
std::vector<Changes> with_overlap(const FindingInput& facts, Changes changes) {
  changes.push_back({"copy", "stream"});
  std::vector<Changes> options = {changes};
  if (facts.config.trainer.in_flight > 1) return options;
  changes.push_back({"in-flight", "2"});
  options.push_back(std::move(changes));
  return options;
}

// Returns " at 7.75 GB/s"; "" if unknown.
std::string rate_words(const FindingInput& facts) {
  const std::optional<double> rate = copy_rate(facts.record);
  return rate ? " at " + format_byte_rate(*rate) : "";
}

bool overlaps_copies(const RunConfig& config) {
  return config.trainer.copy == CopyMode::stream && config.loader.memory != MemoryMode::pageable;
}

// Returns the sum over all ranks; 0 if unknown.
double copied_bytes(const FindingInput& facts) {
  const double seen = facts.metric(metric::gpu_h2d_bytes);
  return seen > 0 ? seen : static_cast<double>(job_stages(facts.record)[Stage::h2d].bytes);
}

// True if copies use the link far below its rating, so that something else makes them slow.
bool has_room_on_link(const FindingInput& facts) {
  constexpr double kFull = 0.6;  // share of the rating; headers and small copies take the rest
  constexpr double kBytesOfTransfer = 0.12;  // a lane's, at 8 GT/s or more: 128 of 130 bits
  const double rating = facts.metric(metric::link_max_width) * facts.metric(metric::link_max_gts) *
                        kBytesOfTransfer * 1e9;
  const std::optional<double> rate = copy_rate(facts.record);
  return rating > 0 && rate && *rate < kFull * rating;
}

// Returns " (25.5 GB in 921 ms of 968 ms, 27.7 GB/s)" for a rank; "" if unknown.
std::string copied_words(const FindingInput& facts) {
  const std::optional<double> rate = copy_rate(facts.record);
  const double bytes = copied_bytes(facts) / static_cast<double>(facts.record.ranks.size());
  if (!rate || bytes <= 0) return "";
  const Account& account = facts.analysis.account;  // the mean of the ranks
  return fmt::format(" ({} in {} of {}, {})", format_size(bytes),
                     format_duration(account.stall[Cause::h2d]), format_duration(account.window),
                     format_byte_rate(*rate));
}

std::string fewer_bytes_words(const FindingInput& facts) {
  if (facts.has_arrays())
    return "arrays of fewer bytes (float16), made floats on the GPU: batch.to(device, "
           "non_blocking=True).float()";
  if (facts.config.image.transfer == Transfer::u8)
    return "smaller images: crop or resize them before they are copied";
  return "batches of uint8, made floats on the GPU: batch.to(device, non_blocking=True).float()"
         ".div_(255); else of float16";
}

// A byte for each element of a batch is enough.
void advise_fewer_bytes(const FindingInput& facts, Candidate& candidate) {
  const RunConfig& config = facts.config;
  const bool is_byte_enough = config.image.transfer == Transfer::f32 && !facts.has_arrays();
  candidate.options = {{{"h2d.speed", is_byte_enough ? "4" : "2"}}};
  candidate.pytorch = fewer_bytes_words(facts);
  const bool ours = is_native_engine(config.engine.value) || is_model_engine(config.engine.value);
  const bool can_be_bytes = config.image.transfer != Transfer::u8 && !facts.has_arrays();
  if (ours && can_be_bytes && !config.data.delivered_bytes.given &&
      config.declared_cost(Stage::h2d) == nullptr)
    candidate.to_run = {{"transfer", "u8"}};
}

}  // namespace

std::optional<Candidate> pageable_copies(const FindingInput& facts) {
  if (facts.config.loader.memory != MemoryMode::pageable ||
      facts.share(Cause::h2d) < kMinReportedShare)
    return std::nullopt;
  Candidate candidate{fmt::format("batches are copied from pageable memory{}, by the trainer "
                                  "itself: {} of the time",
                                  rate_words(facts), format_percent(facts.share(Cause::h2d))),
                      {{{"memory", "pin-thread"}}, {{"memory", "pinned-slots"}}},
                      loader_words(facts.record, {"pin_memory=True"})};
  candidate.advice = {
      {"copy", fmt::format("{}; then {}", candidate.pytorch, find_framework(facts.record).copies)}};
  for (Changes& changes : with_overlap(facts, {{"memory", "pin-thread"}}))
    candidate.options.push_back(std::move(changes));
  return candidate;
}

std::optional<Candidate> copy_not_overlapped(const FindingInput& facts) {
  const bool can_overlap = facts.config.trainer.copy != CopyMode::stream &&
                           facts.config.loader.memory != MemoryMode::pageable;
  if (!can_overlap || hidden_by_overlap(facts) < kMinReportedShare) return std::nullopt;
  const std::string how =
      trains_itself(facts.config)
          ? ""
          : fmt::format(" (--copy {})", name_of(facts.config.trainer.copy.value));
  return Candidate{fmt::format("the device is idle during copies{}{}: {} of the time",
                               rate_words(facts), how, format_percent(facts.share(Cause::h2d))),
                   with_overlap(facts, {}),
                   "copy the next batch during the step, with torch.cuda.stream(side): "
                   "next_batch.to(device, non_blocking=True); before its step "
                   "torch.cuda.current_stream().wait_stream(side), where side is a "
                   "torch.cuda.Stream()"};
}

// An overlap gains at most the shorter of copies and compute.
double hidden_by_overlap(const FindingInput& facts) {
  return std::min(facts.share(Cause::h2d), facts.share(facts.analysis.account.compute));
}

std::optional<Candidate> link_full(const FindingInput& facts) {
  const bool is_pageable = facts.config.loader.memory == MemoryMode::pageable;
  const double copies = facts.share(Cause::h2d);
  // Half the bytes must give more than hiding them would.
  if (is_pageable || overlaps_copies(facts.config) || copies < kModerateStall ||
      copies / 2 <= hidden_by_overlap(facts) || has_room_on_link(facts))
    return std::nullopt;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "the link is full: copies take {} of the time{}; to overlap them would hide {} at most",
      format_percent(copies), copied_words(facts), format_percent(hidden_by_overlap(facts)));
  advise_fewer_bytes(facts, candidate);
  candidate.pytorch =
      "copy fewer bytes: " + candidate.pytorch + "; keep on the GPU what every step copies again";
  return candidate;
}

std::optional<Candidate> too_many_bytes_to_copy(const FindingInput& facts) {
  const RunConfig& config = facts.config;
  if (!overlaps_copies(config) || config.image.transfer == Transfer::u8 ||
      facts.share(Cause::h2d) < kMinReportedShare)
    return std::nullopt;
  const StageStats& copy = facts.stages[Stage::h2d];
  const Nanos each = copy.count > 0 ? copy.wall / copy.count : 0;
  Candidate candidate;
  candidate.evidence = fmt::format(
      "copies have a stream of their own, take {} each and are waited for {} of the time: a batch "
      "has too many bytes for the link",
      format_duration(each), format_percent(facts.share(Cause::h2d)));
  advise_fewer_bytes(facts, candidate);
  if (facts.waits_for_each_step()) {
    candidate.options.insert(candidate.options.begin(), Changes{{"in-flight", "2"}});
    candidate.to_run = {};
    candidate.advice = {{"in-flight", "no .item() or print of a tensor in every step", true}};
  }
  return candidate;
}

std::optional<Candidate> pinning_not_worth_it(const FindingInput& facts) {
  if (facts.config.loader.memory != MemoryMode::pin_thread ||
      facts.share(Cause::pin) < kMinReportedShare)
    return std::nullopt;
  return Candidate{fmt::format("the thread that copies batches into page-locked memory is waited "
                               "for {} of the time",
                               format_percent(facts.share(Cause::pin))),
                   {{{"memory", "pageable"}}},
                   loader_words(facts.record, {"pin_memory=False"})};
}

std::optional<Candidate> pin_thread_limit(const FindingInput& facts) {
  const StageStats& pin = facts.stages[Stage::pin];
  if (facts.config.loader.memory != MemoryMode::pin_thread || pin.count == 0 ||
      facts.share(Cause::pin) < kMinReportedShare)
    return std::nullopt;
  return Candidate{
      fmt::format("one thread copies the batches of all workers into page-locked "
                  "memory, {} each: {} of the time",
                  format_duration(pin.wall / pin.count), format_percent(facts.share(Cause::pin))),
      {{{"pin.speed", "2"}}},
      "batches of uint8 in few large tensors, made floats on the GPU: "
      "batch.to(device, non_blocking=True).float(); the thread copies each tensor by itself"};
}

}  // namespace loaderscope
