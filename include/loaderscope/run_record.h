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

// The chain of events of a rank that led to the end of the window. Each event begins when the event
// before it ends.
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

// One whole sample, drawn at random from the window, which keeps the correlations between its
// stages. A rank that cannot distinguish samples has one whole batch, with all work on its samples.
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
  std::string name;  // "ready": to the trainer; "pin", "device": to these threads
  std::int64_t capacity = 0;
  double mean_occupancy = 0;  // mean over the window
  std::int64_t max_occupancy = 0;
  Nanos get_wait = 0;  // consumers waited with the queue empty
  Nanos put_wait = 0;  // producers waited with the queue full
};

// A named number outside the account: memory, counters. Writers print it without special code.
struct Metric {
  std::string name;  // "memory.pinned_bytes"
  std::string unit;  // "s", "bytes", "1", "1/s"
  std::string help;
  double value = 0;
  // Marks a count per sample that the same code over the same samples repeats exactly.
  bool is_exact = false;
  MetricJoin joined = MetricJoin::mean;
};

// Returns a metric of that name with the unit and the join of its row in metrics.def.
// Requires such a row: throws std::logic_error.
Metric make_metric(std::string name, std::string help, double value);

// Returns nothing if the metric is missing, or its value is not a number.
std::optional<double> value_of(const std::vector<Metric>& metrics, std::string_view name);

// A name from the measured program: ("augment", "RandomCrop", 0.6), or ("data.alike_seeds",
// "numpy").
struct Detail {
  std::string about;  // a stage, or a metric
  std::string text;
  double share = 0;  // share of the stage's named time; 0: unknown

  bool operator==(const Detail&) const = default;
};

// One of several loaders that a program takes batches from.
struct LoaderUse {
  std::string dataset, place;  // the name of its class, and FILE:LINE that made the loader
  bool measured = false;       // the record describes this loader
  bool with_gradients = false;
  std::int64_t iterations = 0, batches = 0;
  // Time from the program's first ask to its last batch.
  double waited = 0;  // share spent waiting for its batches
  double looped = 0;  // share spent in loops over it, including the waits
};

struct RankRecord {
  Nanos first_ask = 0;
  Nanos window_begin = 0;  // end of compute of the last warm-up step, or first_ask
  Nanos window_end = 0;    // end of compute of the last step
  StepRows rows;           // warm-up steps first
  std::int64_t warmup_steps = 0;
  std::int64_t samples = 0;  // samples of the window; the next members also count the window only
  Bytes read_bytes = 0;
  Bytes delivered_bytes = 0;
  WorkCounts work;  // 0: nothing is counted
  PerStage<StageStats> stages;
  std::optional<CriticalPath> critical_path;  // empty in results of older versions
  std::vector<SampleRow> reservoir;           // only samples, or only batches
  std::int64_t reservoir_seen = 0;  // samples, or batches, that the reservoir was drawn from
  std::vector<Exemplar> exemplars;
  std::vector<QueueStats> queues;

  Nanos window() const { return window_end - window_begin; }
  std::int64_t steps() const { return rows.size() - warmup_steps; }
};

// Samples that could not be used; each counts once per epoch.
struct SkippedSamples {
  std::int64_t samples = 0;
  std::map<std::string, std::int64_t> kind_counts;  // "truncated" -> 3
  std::vector<std::string> first;                   // the first ten: "PATH: what is wrong with it"
};

struct MachineFacts {
  std::string cpu, os, kernel;
  std::int64_t logical_cpus = 0;
  double cores = 0;  // affinity and CPU quota
  Bytes memory_bytes = 0;
  std::optional<std::string> host{};                // host name
  std::optional<std::string> gpus{}, gpu_driver{};  // names from the driver; empty without a driver
  std::optional<std::string> unusable_gpu{};        // reason why a GPU was not used; empty if there
                                                    // is no such GPU
};

// A machine of a job over several.
struct HostRecord {
  MachineFacts machine;
  std::int64_t ranks = 0;  // ranks of the job, numbered after the ranks of the previous host
  // Offset of its clock from the clock of the first host, and the error of the offset. Times of its
  // ranks are on the first host's clock. Empty if clocks were not compared: the times then use the
  // host's own clock.
  std::optional<Nanos> clock_offset, clock_error;
  std::vector<Metric> metrics;  // metrics of its processes
  std::string ended_early;      // reason for an early end; "" otherwise

  bool has_clock() const { return clock_offset && clock_error; }
};

// The line of the program that made its measured loader.
struct LoaderCall {
  std::string file;       // absolute path, or "<name>" of code without a file
  std::int64_t line = 0;  // number of the line, from 1; 0: unknown
  std::string made;       // full name of the loader's class
  std::string called;     // full name of the function that the line called; "": it made the loader
                          // itself
  std::string python;     // path of the interpreter
  std::string digest;  // hash of the file's content; "": unknown, or changed while the program ran

  bool operator==(const LoaderCall&) const = default;
};

// Facts about the user's program that change the wording of advice.
struct ProgramFacts {
  // Packages that made its loader, the innermost first, and the package of the class of its data
  // set.
  std::vector<std::string> made_by, data_of;
  bool uses_gpu = false;
  std::optional<LoaderCall> loader_call;  // empty if unknown

  bool operator==(const ProgramFacts&) const = default;
};

struct RunRecord {
  std::string engine;
  bool simulated = false;  // the device or the time is not real
  std::string tool_version;
  MachineFacts machine;
  RunConfig config;  // values in force
  std::vector<RankRecord> ranks;
  std::vector<HostRecord> hosts;  // empty: all ranks ran on `machine`
  // Times before the first ask, in order: ("import", ns), ("index", ns). If batches were skipped,
  // the times before the first batch that was not skipped: ("skip", ns), and the causes of the
  // first batch.
  std::vector<std::pair<std::string, Nanos>> before_first_ask;
  std::optional<ProgramFacts> program;  // empty for native loaders
  std::vector<LoaderUse> loaders;       // loaders of the first rank, if the program has more than
                                        // one
  bool contention_known = true;
  bool interrupted = false;
  bool input_ended_in_warmup = false;  // the whole run is the window
  std::int64_t lost_spans = 0;         // not 0 withholds the verdict
  SkippedSamples skipped;
  std::vector<Metric> metrics;
  std::vector<Detail> details;     // the largest share of each first
  std::vector<std::string> notes;  // facts that a reader must know: settings without effect,
                                   // fallbacks
};

}  // namespace loaderscope
