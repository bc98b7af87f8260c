// Measured costs of a recorded run, from which the model draws. Samples are kept whole, so that the
// times of one sample stay together. Stages of a batch, step or worker have distributions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/first_workers.h"
#include "analysis/library_threads.h"
#include "loaderscope/engine.h"
#include "loaderscope/run_record.h"
#include "loaderscope/units.h"

namespace loaderscope {

// Identifies one execution of a stage.
struct Execution {
  std::int32_t rank = 0;
  std::int32_t worker = -1;  // -1: not a worker's
  std::int64_t epoch = 0;
  std::int64_t draw =
      0;  // index of the random draw: the sample in the data set, or the batch over all ranks
  std::int64_t count =
      0;  // position of the sample in the rank's epoch, or of the batch, for `every`
  std::int64_t samples = 0;  // samples of the batch
  Bytes bytes = 0;
  bool last_of_epoch = false;  // the compute of an epoch's last step
};

// The machines of a job that is spread over several, each like the one that was measured, or as
// `measured` says.
struct JobHosts {
  struct Host {
    std::int64_t ranks = 0;
    double cores = 0;  // 0: as many as the settings say
  };

  std::int64_t count = 1;      // hosts with ranks
  std::vector<Host> measured;  // empty: alike
  double decode_cores = 0;     // cores of all hosts that only decode; 0: there are none
  double decode_rate = 0;      // bytes per second that these send, as batches have them; 0: any
  // The most by which workers of one rank start later than those of another. Ranks with equal costs
  // that start together would compete for the cores in every step, as real ranks do not.
  Nanos start_skew = 0;

  // Returns the host of each rank, host by host. Uses the measured numbers if they have this many
  // ranks. Otherwise, no host has two more ranks than another.
  std::vector<std::size_t> rank_hosts(std::int64_t ranks) const;

  // The time that decoding a sample takes these hosts, if it is the only one there. `cpu` is its
  // time on one core. All cores share the work, because more samples are in flight than there are
  // cores.
  Nanos remote_cpu(Nanos cpu, Bytes delivered) const;
};

// One execution of a stage: it waits, then moves bytes over the storage's link, then needs a core.
struct StageTime {
  Nanos waits = 0;
  Nanos transfers = 0;
  Nanos cpu = 0;
  Nanos remote_cpu = 0;  // on the hosts that decode for all ranks, before `cpu`
  double threads = 1;    // threads that use cores during `cpu`: more than one in a library

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
  // Requires 0 < u < 1. If the stage handles bytes, its time is in proportion to `bytes`. 0 stands
  // for the measured bytes.
  StageTime draw(double u, Bytes bytes) const;

 private:
  struct Step {
    std::int64_t up_to;  // executions that took no longer
    double mean;         // ns
  };
  std::vector<Step> steps_;
  std::int64_t count_ = 0;
  double wait_share_ = 0, cpu_share_ = 0;  // shares of the wall; the rest waited for a core
  LibraryTime library_;
  double bytes_ = 0;  // bytes of one execution
};

struct FittedCosts {
  // The share of its wait to receive a batch in which its worker was busy, and the worker's main
  // stage. Without that stage, this share of the wait disappears.
  struct BusyWorkers {
    Stage stage = Stage::opaque;
    double share = 0;
  };
  // Reads that are requests to servers: a reader has some under way while it makes samples.
  struct Requests {
    double latency = 0;        // ns to the first byte of a request with no other in flight
    double queueing = 0;       // ns more, caused by other requests in flight
    double in_flight = 1;      // requests of all readers during that measurement
    double alone = 0;          // requests in `latency`; 0: `latency` includes the queueing
    bool is_mean = false;      // `latency` is their mean; else it is that of the shortest
    double per_byte = 0;       // ns, of each by itself
    double link_per_byte = 0;  // ns, of the link that all share; 0: it is never full
    double waiting = 1;        // times all that, until those before it are there, too
    double rate = 0;           // bytes per second that all readers got
    Bytes bytes = 0;           // bytes of one request
    double samples = 1;        // samples in one request
    double hit_rate = 0;       // share of requests that a cache answers at once
    std::int64_t depth = 1;    // under way at once, of a reader
    std::int64_t held = 1;     // limit that includes requests that came and were not used up
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
    // Samples per row. 0: one sample. Else the row is a batch whose samples were not distinguished.
    // All of its time belongs to its first sample, which is exact if one worker makes the batch.
    std::int64_t samples_per_row = 0;
    std::int64_t short_rows = 0;  // number of short last batches, the last rows of `samples`
    PerStage<MeasuredTimes> stages;
    // The compute of an epoch's last step, with what the program does before the next epoch.
    MeasuredTimes last_compute;
    // Time of the trainer's thread from the begin of the compute until it asks again. Unknown: 0.
    MeasuredTimes overlapped_work;
    bool waits_for_compute = false;  // the trainer asks only after each step's compute
  };

  std::vector<Rank> ranks;     // empty: the samples' costs are declared; further ranks repeat them
  double storage_streams = 0;  // transfers that reach the measured speed; more share that speed
  std::optional<Requests> requests;
  std::optional<Line> read_line;  // the samples' reads are split by it
  std::string why_no_storage;     // reason why a change of the storage cannot be predicted
  PerStage<double> speed = {};    // 2: twice as fast as measured; 0: as measured
  SentBatch batch;                // batch that a first worker would send
  BusyWorkers busy_workers;
  Nanos turn = 0;            // delay of a free worker before it begins its task
  double other_threads = 0;  // threads of other processes that wanted a core all of the time
  // Threads of one step's compute, if training runs on the cores; 0: on a device.
  double compute_threads = 0;
  double making_threads = 1;  // most of one stage that makes batches, with those of a library
  double compute_alone = 1;   // share of a compute's measured time that it takes with free cores
  std::int64_t shards = 0;    // shards of a stream: more workers have nothing to read; 0: not known
  JobHosts hosts;
  // The device decoded or augmented in the run: the samples have the work of the workers only.
  bool made_for_device = false;

  bool has_samples() const { return !ranks.empty(); }
  bool separates_samples() const;  // true if this holds on every rank
  bool waits_for_compute(std::size_t rank) const {
    return !ranks.empty() && ranks[rank % ranks.size()].waits_for_compute;
  }
  bool knows(Stage stage) const;
  // Returns the time of a sample's stage. `count` is its position in the epoch. All stages of one
  // sample in one epoch use the same row.
  StageTime sample_time(Stage stage, const Execution& execution, std::uint64_t seed) const;
  StageTime batch_time(Stage stage, const Execution& execution, std::uint64_t seed) const;
  // Returns true if no worker decoded this sample. Requires `made_for_device`.
  bool was_left_to_device(const Execution& execution, std::uint64_t seed) const;
  Nanos overlapped_work(const Execution& execution, std::uint64_t seed) const;
  // Returns the time of a receive that took `whole`, less the stages in `without`.
  StageTime received(StageTime whole, const Knockouts& without) const;
  Bytes bytes_of_sample(const Execution& execution, std::uint64_t seed) const;
  double waiting_share() const;  // share of the samples' time that is off the CPU
  FittedCosts at_means() const;  // every sample, batch, step and worker takes the mean

 private:
  const Rank& fitted_rank(const Execution& execution) const;
  // Null where nothing is put down to the sample.
  const Sample* drawn_sample(const Execution& execution, std::uint64_t seed) const;
  StageTime at_speed(Stage stage, StageTime time) const;
};

}  // namespace loaderscope
