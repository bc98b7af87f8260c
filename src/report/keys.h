// The names in the result JSON that more than one file must spell alike, as tables: the writer and
// the reader walk the same ones. A name ends with its unit: _s are seconds, _ns integer
// nanoseconds, nothing a count.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "loaderscope/run_record.h"

namespace loaderscope::keys {

inline constexpr std::string_view kSchema = "loaderscope.run/1";
inline constexpr std::string_view kSchemaFamily = "loaderscope.run/";

// A member of a struct and its name.
template <class Owner, class T>
struct Named {
  std::string_view name;
  T Owner::*member;
};

// Facts of the whole run.
inline constexpr Named<RunRecord, bool> kRunFlags[] = {
    {"simulated", &RunRecord::simulated},
    {"interrupted", &RunRecord::interrupted},
    {"input_ended_in_warmup", &RunRecord::input_ended_in_warmup},
};
inline constexpr Named<MachineFacts, std::string> kMachineWords[] = {
    {"cpu", &MachineFacts::cpu}, {"os", &MachineFacts::os}, {"kernel", &MachineFacts::kernel}};

// Of a rank, over its window.
inline constexpr Named<RankRecord, std::int64_t> kRankCounts[] = {
    {"samples", &RankRecord::samples},
    {"read_bytes", &RankRecord::read_bytes},
    {"delivered_bytes", &RankRecord::delivered_bytes},
    {"reservoir_seen", &RankRecord::reservoir_seen},
};

// Of a stage.
inline constexpr Named<StageStats, Nanos> kStageTimes[] = {
    {"wall_s", &StageStats::wall}, {"cpu_s", &StageStats::cpu}, {"queued_s", &StageStats::queued}};

// Of a queue.
inline constexpr Named<QueueStats, std::int64_t> kQueueCounts[] = {
    {"capacity", &QueueStats::capacity}, {"max_occupancy", &QueueStats::max_occupancy}};
inline constexpr Named<QueueStats, Nanos> kQueueWaits[] = {{"get_wait_s", &QueueStats::get_wait},
                                                           {"put_wait_s", &QueueStats::put_wait}};

// Of a step: counts; times since the first ask of its rank; durations, which are left out when 0.
inline constexpr Named<StepRow, std::int32_t> kStepCounts[] = {
    {"epoch", &StepRow::epoch}, {"worker", &StepRow::worker}, {"samples", &StepRow::samples}};
inline constexpr Named<StepRow, bool> kStepFlags[] = {{"warmup", &StepRow::warmup},
                                                      {"first_of_epoch", &StepRow::first_of_epoch}};
inline constexpr Named<StepRow, Nanos> kStepTimes[] = {
    {"ask_s", &StepRow::ask},
    {"deliverable_s", &StepRow::deliverable},
    {"take_s", &StepRow::take},
    {"copy_begin_s", &StepRow::copy_begin},
    {"copy_end_s", &StepRow::copy_end},
    {"idle_begin_s", &StepRow::idle_begin},
    {"compute_begin_s", &StepRow::compute_begin},
    {"compute_end_s", &StepRow::compute_end},
};
inline constexpr Named<StepRow, Nanos> kStepDurations[] = {
    {"not_asking_s", &StepRow::not_asking},
    {"waiting_for_ranks_s", &StepRow::waiting_for_ranks},
    {"order_s", &StepRow::order},
    {"clamped_s", &StepRow::clamped},
};

// Of an exemplar: integer ns since the first ask of its rank.
inline constexpr Named<StepEvents, Nanos> kEventTimes[] = {
    {"epoch_dispatch", &StepEvents::epoch_dispatch},
    {"dispatched", &StepEvents::dispatched},
    {"begun", &StepEvents::begun},
    {"finished", &StepEvents::finished},
    {"deliverable", &StepEvents::deliverable},
    {"ask", &StepEvents::ask},
    {"take", &StepEvents::take},
    {"ready", &StepEvents::ready},
};
// Durations in ns, which are left out when 0.
inline constexpr Named<StepEvents, Nanos> kEventWaits[] = {
    {"ask_queued_ns", &StepEvents::ask_queued}, {"take_queued_ns", &StepEvents::take_queued}};
inline constexpr Named<StepEvents, Interval> kEventIntervals[] = {
    // [begin, end, cpu, queued]
    {"send", &StepEvents::send},     {"receive", &StepEvents::receive},
    {"pin", &StepEvents::pin},       {"copy", &StepEvents::copy},
    {"launch", &StepEvents::launch}, {"compute", &StepEvents::compute},
};
inline constexpr Named<StepEvents, Bytes> kEventBytes[] = {
    {"read_bytes", &StepEvents::read_bytes}, {"delivered_bytes", &StepEvents::delivered_bytes}};

// The arrays that are too long to be held: the writer streams them, the reader takes them piece by
// piece.
inline constexpr std::string_view kSteps = "steps";
inline constexpr std::string_view kReservoir = "reservoir";
inline constexpr std::string_view kExemplars = "exemplars";

// Keys of the document that are no group of metrics.
inline constexpr std::string_view kTopLevel[] = {
    "schema",     "tool",         "engine",        "machine",
    "config",     "config_given", "verdict",       "window",
    "throughput", "device",       "epoch",         "step_time",
    "account",    "stages",       "queues",        "first_batch",
    "metrics",    "errors",       "notes",         "unseen",
    "lost_spans", "ranks",        "steps",         "reservoir",
    "exemplars",  "simulated",    "interrupted",   "input_ended_in_warmup",
    "findings",   "fit",          "cost",          "depth",
    "proof",      "details",      "what_it_takes", "removals",
    "ceilings"};

// "memory.pinned_bytes" stands as `pinned_bytes` in the object `memory`.
struct MetricPlace {
  std::string_view group, name;

  bool ok() const {
    if (group.empty() || name.empty()) return false;
    for (std::string_view taken : kTopLevel) {
      if (group == taken) return false;
    }
    return true;
  }
};
inline MetricPlace place_of(std::string_view metric) {
  const auto dot = metric.find('.');
  if (dot == metric.npos) return {};
  return {metric.substr(0, dot), metric.substr(dot + 1)};
}

// num-workers is num_workers in the JSON.
inline std::string of_field(std::string_view field) {
  std::string key(field);
  for (char& c : key) {
    if (c == '-') c = '_';
  }
  return key;
}

}  // namespace loaderscope::keys
