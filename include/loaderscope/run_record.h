// RunRecord: the facts of a run, folded. Every engine fills one, every analysis reads only it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/events.h"
#include "loaderscope/run_config.h"
#include "loaderscope/step_rows.h"

namespace loaderscope {

// What the steps of a rank hung on: the chain of events, each begun by the end of the one before,
// that led to the end of the window.
struct CriticalPath {
  Nanos compute = 0;
  PerCause<Nanos> stall{};

  bool operator==(const CriticalPath&) const = default;
};

// One stage over the measured window: the executions that belong to its steps.
struct StageStats {
  std::int64_t count = 0;
  Nanos wall = 0, cpu = 0, queued = 0;
  Bytes bytes = 0;
  Histogram wall_histogram;

  Nanos blocked() const { return wall - cpu - queued; }
  void add(Nanos wall_ns, Nanos cpu_ns, Nanos queued_ns, Bytes handled);
  void merge(const StageStats& other);
};

// One whole sample, drawn at random from all of the window: correlations between its stages are
// kept. Of a rank that told no sample apart: one whole batch, with all that was done to its
// samples.
struct SampleRow {
  std::int64_t sample = 0;  // index in the data set; -n: all n of the batch
  std::int64_t batch = 0;
  std::int32_t worker = 0;
  std::int32_t epoch = 0;
  Bytes bytes = 0;
  struct Part {
    Nanos wall = 0, cpu = 0, queued = 0;

    bool operator==(const Part&) const = default;
  };
  std::array<Part, 5> parts;  // read, read.decompress, decode, augment, opaque: see kSampleStages

  bool is_batch() const { return sample < 0; }
  std::int64_t samples() const { return is_batch() ? -sample : 1; }
  bool operator==(const SampleRow&) const = default;
};
inline constexpr std::array<Stage, 5> kSampleStages = {
    Stage::read, Stage::read_decompress, Stage::decode, Stage::augment, Stage::opaque};

// A step kept in full, for pictures and traces.
struct Exemplar {
  bool worst = false;  // among the worst stalls; otherwise among the first steps
  StepEvents events;
  StepRow row;
  std::vector<std::pair<std::int32_t, Span>> spans;  // (worker, span): those of this batch

  bool operator==(const Exemplar&) const = default;
};

struct QueueStats {
  std::string name;  // "ready": to the trainer; "pin": to the pin thread
  std::int64_t capacity = 0;
  double mean_occupancy = 0;  // over the window
  std::int64_t max_occupancy = 0;
  Nanos get_wait = 0;  // consumers waited with the queue empty
  Nanos put_wait = 0;  // producers waited with the queue full
};

// A described number beside the account: memory, counters. Writers print it without knowing it.
struct Metric {
  std::string name;  // "memory.pinned_bytes"
  std::string unit;  // "s", "bytes", "1", "1/s"
  std::string help;
  double value = 0;
  // A count for each sample, which the same code over the same samples repeats exactly.
  bool is_exact = false;
  MetricJoin joined = MetricJoin::mean;
};

// Returns a metric of that name with the unit and the join of its row in metrics.def.
// Requires such a row: throws std::logic_error.
Metric make_metric(std::string name, std::string help, double value);

// Nothing where it is not there, or is no number.
std::optional<double> value_of(const std::vector<Metric>& metrics, std::string_view name);

// What a fact is called in the measured program: ("augment", "RandomCrop", 0.6), or
// ("data.alike_seeds", "numpy").
struct Detail {
  std::string about;  // a stage, or a metric
  std::string text;
  double share = 0;  // of the stage's named time; 0: not known

  bool operator==(const Detail&) const = default;
};

// One of several loaders that a program takes batches from.
struct LoaderUse {
  std::string dataset, place;  // the name of its class, and FILE:LINE that made the loader
  bool measured = false;       // the record is of it
  bool with_gradients = false;
  std::int64_t iterations = 0, batches = 0;
  // Of the time from the program's first ask to its last batch.
  double waited = 0;  // for its batches
  double looped = 0;  // in loops over it, the waits among that
};

struct RankRecord {
  Nanos first_ask = 0;
  Nanos window_begin = 0;  // end of compute of the last warm-up step, or first_ask
  Nanos window_end = 0;    // end of compute of the last step
  StepRows rows;           // warm-up steps first
  std::int64_t warmup_steps = 0;
  std::int64_t samples = 0;  // of the window, as are the following
  Bytes read_bytes = 0;
  Bytes delivered_bytes = 0;
  WorkCounts work;  // 0: nothing is counted
  PerStage<StageStats> stages;
  std::optional<CriticalPath> critical_path;  // not of results that older versions saved
  std::vector<SampleRow> reservoir;           // all of samples, or all of batches
  std::int64_t reservoir_seen = 0;  // samples, or batches, that the reservoir was drawn from
  std::vector<Exemplar> exemplars;
  std::vector<QueueStats> queues;

  Nanos window() const { return window_end - window_begin; }
  std::int64_t steps() const { return rows.size() - warmup_steps; }
};

// Samples that could not be used; each counts once per epoch.
struct SkippedSamples {
  std::int64_t samples = 0;
  std::map<std::string, std::int64_t> by_kind;  // "truncated" -> 3
  std::vector<std::string> first;               // the first ten: "PATH: what is wrong with it"
};

struct MachineFacts {
  std::string cpu, os, kernel;
  std::int64_t logical_cpus = 0;
  double cores = 0;  // affinity and CPU quota
  Bytes memory_bytes = 0;
  std::optional<std::string> host{};                // its name
  std::optional<std::string> gpus{}, gpu_driver{};  // as its driver says; not where there is none
  std::optional<std::string> unusable_gpu{};        // why the one that is there was not used
};

// A machine of a job over several.
struct HostRecord {
  MachineFacts machine;
  std::int64_t ranks = 0;  // of the job, those behind the ranks of the host before
  // Its clock less that of the first host, and how far this can be wrong: times of its ranks are
  // on the first host's clock. Nothing where clocks were not compared: each host's times are its
  // own.
  std::optional<Nanos> clock_offset, clock_error;
  std::vector<Metric> metrics;  // of its processes
  std::string ended_early;      // why it did; "": it did not

  bool has_clock() const { return clock_offset && clock_error; }
};

// Of somebody else's program, what its advice is worded by.
struct ProgramFacts {
  // Packages that its loader was made through, the innermost first; and that the class of its data
  // set is from.
  std::vector<std::string> made_by, data_of;
  bool uses_gpu = false;

  bool operator==(const ProgramFacts&) const = default;
};

struct RunRecord {
  std::string engine;
  bool simulated = false;  // the device or the time is not real
  std::string tool_version;
  MachineFacts machine;
  RunConfig config;  // values in force
  std::vector<RankRecord> ranks;
  std::vector<HostRecord> hosts;  // none: all ranks ran on `machine`
  // Before the first ask, in order: ("import", ns), ("index", ns). Where batches were thrown away,
  // before that for the first one that was not: ("skip", ns), and the causes of the first batch.
  std::vector<std::pair<std::string, Nanos>> before_first_ask;
  std::optional<ProgramFacts> program;  // of loaders of our own there is none
  std::vector<LoaderUse> loaders;       // of a program that has more than one, of its first rank
  bool contention_known = true;
  bool interrupted = false;
  bool input_ended_in_warmup = false;  // the whole run is the window
  std::int64_t lost_spans = 0;         // not 0 withholds the verdict
  SkippedSamples skipped;
  std::vector<Metric> metrics;
  std::vector<Detail> details;     // the largest share of each first
  std::vector<std::string> notes;  // what a reader must know: settings without effect, fallbacks
};

}  // namespace loaderscope
