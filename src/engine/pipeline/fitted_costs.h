// What the stages of a recorded run took, for the model to draw again: whole samples, so that what
// belongs together stays together, and the distributions of the stages of a batch, step or worker.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/first_workers.h"
#include "analysis/library_threads.h"
#include "engine/pipeline/execution.h"
#include "engine/pipeline/job_hosts.h"
#include "loaderscope/engine.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

// One execution of a stage: it waits, then moves bytes over the storage's link, then needs a core.
struct StageTime {
  Nanos waits = 0;
  Nanos transfers = 0;
  Nanos cpu = 0;
  Nanos remote_cpu = 0;  // on the hosts that decode for all ranks, before `cpu`
  double threads = 1;    // that take cores during `cpu`: more than one in a library

  Nanos wall() const { return waits + transfers + remote_cpu + cpu; }
  bool operator==(const StageTime&) const = default;
  // Without the waits for threads of a library, which compute in place of them.
  StageTime with_library(const LibraryTime& library) const;
};

// Times of a stage that handles no single sample.
class MeasuredTimes {
 public:
  MeasuredTimes() = default;
  explicit MeasuredTimes(const StageStats& stats);
  MeasuredTimes(const StageStats& stats, const LibraryTime& library);

  bool known() const { return count_ > 0; }
  MeasuredTimes at_mean() const;  // every execution takes the mean
  // For a draw 0 < u < 1. Where the stage handles bytes its time is in proportion to them; 0: those
  // that were measured.
  StageTime draw(double u, Bytes bytes) const;

 private:
  struct Step {
    std::int64_t up_to;  // executions that took no longer
    double mean;         // ns
  };
  std::vector<Step> steps_;
  std::int64_t count_ = 0;
  double wait_share_ = 0, cpu_share_ = 0;  // of the wall; what is left waited for a core
  LibraryTime library_;
  double bytes_ = 0;  // of one execution
};

struct FittedCosts {
  // Of what it waits to receive a batch, the part for which its worker was busy, and with which
  // stage chiefly: without that stage it waits no longer.
  struct BusyWorkers {
    Stage stage = Stage::opaque;
    double share = 0;
  };
  // Reads that are requests to servers: a reader has some under way while it makes samples.
  struct Requests {
    double latency = 0;        // ns to the first byte of one that no other runs beside
    double queueing = 0;       // ns more, behind those that run beside it
    double in_flight = 1;      // of all readers, when that was measured
    double alone = 0;          // requests that told the latency; 0: it holds the queueing
    bool is_mean = false;      // of them; else it is that of the shortest
    double per_byte = 0;       // ns, of each by itself
    double link_per_byte = 0;  // ns, of the link that all share; 0: it is never full
    double waiting = 1;        // times all that, until those before it are there, too
    double rate = 0;           // bytes per second that all readers got
    Bytes bytes = 0;           // of one
    double samples = 1;        // that one brings
    double hit_rate = 0;       // of them, that a cache answers at once
    std::int64_t depth = 1;    // under way at once, of a reader
    std::int64_t held = 1;     // those that came and were not used up included
  };
  // Reads that a worker makes one at a time, as a line through them; ns.
  struct Line {
    double latency = 0, per_byte = 0;
  };
  struct Sample {
    Bytes bytes = 0;
    std::array<StageTime, kSampleStages.size()> stages;
  };
  struct Rank {
    std::vector<Sample> samples;
    // 0: a row is of one sample. Else of a batch of so many that were not told apart: all of its
    // time is put down to the first of them, which is exact where one worker makes the batch.
    std::int64_t samples_per_row = 0;
    std::int64_t short_rows = 0;  // of `samples`, the last ones: of an epoch's short last batches
    PerStage<MeasuredTimes> stages;
    // The compute of an epoch's last step, with what the program does before the next epoch.
    MeasuredTimes last_compute;
    // Of the trainer's thread, once the compute has begun and until it asks again. None: nothing.
    MeasuredTimes beside_compute;
    bool waits_for_compute = false;  // its trainer, of each step, before it asks again
  };

  std::vector<Rank> ranks;     // none: the samples' costs are declared; further ranks repeat them
  double storage_streams = 0;  // so many transfers are as fast as measured, more share that speed
  std::optional<Requests> requests;
  std::optional<Line> read_line;  // the samples' reads are split by it
  std::string why_no_storage;     // what keeps a change of the storage from having an answer
  PerStage<double> speed = {};    // 2: twice as fast as measured; 0: as measured
  SentBatch batch;                // that a first worker would send
  BusyWorkers busy_workers;
  Nanos turn = 0;            // of a worker that is free and has a task, until it begins with it
  double other_threads = 0;  // of other processes, that wanted a core all of the time
  // Of one step's compute, where training has no device but the cores; 0: it has one.
  double compute_threads = 0;
  double making_threads = 1;  // most of one stage that makes batches, with those of a library
  double compute_alone = 1;  // of the measured time of a compute, what it takes with cores to spare
  std::int64_t shards = 0;   // of a stream: more workers have nothing to read; 0: not known
  JobHosts hosts;

  bool has_samples() const { return !ranks.empty(); }
  bool tells_samples_apart() const;  // on every rank
  bool waits_for_compute(std::size_t rank) const {
    return !ranks.empty() && ranks[rank % ranks.size()].waits_for_compute;
  }
  bool knows(Stage stage) const;
  // Of the sample's stages, `count` its position in the epoch; the same row for all stages of one
  // sample in one epoch.
  StageTime of_sample(Stage stage, const Execution& execution, std::uint64_t seed) const;
  StageTime of_other(Stage stage, const Execution& execution, std::uint64_t seed) const;
  Nanos beside_compute(const Execution& execution, std::uint64_t seed) const;
  // Of a receive that took `whole`, with `without` left out.
  StageTime received(StageTime whole, const Knockouts& without) const;
  Bytes bytes_of_sample(const Execution& execution, std::uint64_t seed) const;
  double waiting_share() const;  // of the samples' time: off the CPU
  FittedCosts at_means() const;  // every sample, batch, step and worker takes the mean

 private:
  const Rank& rank_of(const Execution& execution) const;
  // Null where nothing is put down to the sample.
  const Sample* sample_of(const Execution& execution, std::uint64_t seed) const;
  StageTime at_speed(Stage stage, StageTime time) const;
};

}  // namespace loaderscope
