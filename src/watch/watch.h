// A running job, watched from outside: the activity of its processes, its thresholds, and its
// limit. Some limits are visible only from inside the job.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/rows.h"
#include "loaderscope/units.h"
#include "machine/child_process.h"
#include "watch/thread_activity.h"

namespace loaderscope::watch {

enum class Role : std::uint8_t { trainer, worker, other };
std::string_view name_of(Role role);

// Means of one process, or of several that are alike. Shares are parts of the watched time. Samples
// of activity are scaled to the time in which the main thread did not run.
struct Shares {
  double user = 0, system = 0;  // CPU time of all its threads: above 1 with several
  double no_core = 0;           // the main thread was ready to run, and had no core
  std::array<double, kDoings>
      waits{};  // shares of its main thread, by ThreadActivity; `runs`: time on a core

  double cpu() const { return user + system; }
  double activity_share(ThreadActivity doing) const {
    return waits[static_cast<std::size_t>(doing)];
  }
};

struct WatchedProcess {
  pid_t pid = 0;
  Role role = Role::other;
  std::int64_t rank = 0;    // rank that it is or works for, by torchrun's number, else counted
  std::int64_t number = 0;  // number of the worker, counted from 0 in the order of their start
  std::string name;
  bool has_ended = false;
  double watched_s = 0;
  std::int64_t looks = 0;
  Shares shares;
  std::string where;                         // most frequent wait: "read() of /data/7.jpg"
  double read_per_s = 0, storage_per_s = 0;  // bytes by calls, and of them from storage
  double major_faults_per_s = 0;
  double private_bytes = 0;
  std::optional<double> growth_per_s;           // growth of the private memory
  std::int64_t open_files = 0, most_files = 0;  // 0: not known
  std::string line;                             // line of Python; "": not known
};

struct WatchedGpu {
  std::string name;
  double busy = 0, memory_used = 0, memory = 0;  // means; bytes
  bool is_of_job = false;
  double busy_now = 0, memory_now = 0;  // values of the last sample; no result has them
};

struct OtherProgram {
  std::string name;
  double cores = 0;
};

struct WatchedMachine {
  double cores = 0, busy_cores = 0, other_cores = 0;
  std::vector<OtherProgram> others;  // the largest first
  std::optional<double> quota;       // cores, of the job's cgroup
  std::optional<double> throttled;   // share of the time
  std::string disk;                  // the busiest; "": none is known
  double disk_busy = 0, disk_read_per_s = 0;
  double shm_used = 0, shm_size = 0;  // bytes of /dev/shm, the most
};

// Waits of the trainers' main threads for batches, all ranks together.
struct BatchWaits {
  bool is_known = false;
  double share = 0;        // share of the time, waiting for a batch
  std::int64_t waits = 0;  // number that the samples met
  double mean_s = 0;       // mean of those, at least one interval of samples
  double every_s = 0;      // distance of looks
  std::string basis;       // basis of these values, or the reason why they are unknown
};

// Results of datasets.map() and the like that the job's processes use, as files in the cache of
// `datasets`.
struct MapResults {
  std::int64_t found = 0;                  // older than the job: they were in the cache
  std::int64_t made = 0;                   // since it began
  std::vector<std::string> being_written;  // now: files
};

enum class Limit : std::uint8_t {
  unknown,
  trainer,  // the training itself
  cpu,      // workers never rest, and compute
  storage,  // workers never rest, and wait for storage
  network,
  waits,       // workers never rest, and sleep or wait for locks
  contention,  // workers are ready and have no core: other programs or they themselves use all
               // cores
  quota,
  handover,  // workers rest, and the trainer waits all the same
  hang,      // no process makes progress
};
std::string_view name_of(Limit limit);
const std::vector<std::string_view>& limit_names();

struct ThresholdValue {
  std::optional<double> value;
  std::string why_not{};  // there is none
};

struct ThresholdOutcome {
  std::string_view name;
  ThresholdValue value_or_reason;
  std::optional<bool> is_met{};  // set if `told` has a value
};

// Exact counters of one rank since the first sample, also of processes that have ended. They never
// fall. No result has them.
struct RankCounters {
  double trainer_cpu_s = 0, worker_cpu_s = 0;
  std::optional<double> worker_read, worker_storage;  // bytes; missing if they may not be read
};

struct Watch {
  pid_t pid = 0;
  std::string program;
  double watched_s = 0;
  std::int64_t samples = 0, looks = 0;
  double own_cpu = 0;  // share of a core that watching took
  bool job_ended = false, interrupted = false;
  std::string end;  // exit of the program that was started; "": it still runs, or is not ours
  std::vector<WatchedProcess> processes;
  std::int64_t workers_seen = 0;  // also of earlier epochs
  Shares workers;                 // all of them together, of those that have ended too
  double workers_watched_s = 0;   // watched time of all workers; the base of the shares
  double worker_read_per_s = 0, worker_storage_per_s = 0;  // rate of each worker
  double worker_private_bytes = 0;                         // mean of those that are there
  std::optional<double> worker_growth_per_s;               // rate of each worker
  BatchWaits waits;
  std::vector<WatchedGpu> gpus;
  WatchedMachine machine;
  std::optional<MapResults> map_results;  // missing if the mapped files may not be read
  std::vector<ThresholdOutcome> thresholds;
  Limit limit = Limit::unknown;
  std::string sentence;                  // the verdict
  std::string advice;                    // "": none
  std::vector<std::string> hang_states;  // states of the processes of a job that hangs
  std::vector<std::string> unseen;
  std::vector<std::string> notes;
  std::map<std::int64_t, RankCounters> counters;  // one per rank

  std::int64_t count(Role role) const;
};

// --- thresholds: one row each ---

struct Threshold {
  Row row;
  std::string_view unit;  // "%", "ms"
  double limit;           // a share, or seconds
  bool is_least;          // true: a lower limit; false: an upper limit
  ThresholdValue (*tell)(const Watch& watch);
};
std::span<const Threshold> thresholds();
std::vector<ThresholdOutcome> judge_thresholds(const Watch& watch);

// Fills limit, sentence and advice.
void judge(Watch& watch);

// --- watching ---

struct WatchOptions {
  std::filesystem::path root = "/";  // or a folder with its own proc for tests
  pid_t pid = 0;
  ChildProcess* child = nullptr;  // program that was started to be watched; null: another user's
                                  // process
  Nanos interval = kSecond;
  Nanos duration = 0;               // 0: until the job ends
  Nanos hang_after = 10 * kSecond;  // time without progress after which the job counts as hung
};

// Throws RunError: there is no such process, or /proc does not show it.
void check_process(const std::filesystem::path& root, pid_t pid);

// The trainers of this machine that have PyTorch's workers, for who names none.
std::vector<pid_t> trainers_here(const std::filesystem::path& root);

// Watches until the job ends, the duration is over, `stop` is set or `on_interval` returns false.
// `on_interval` is called every interval with the current state.
Watch watch_job(const WatchOptions& options, const std::atomic<int>& stop,
                const std::function<bool(const Watch&)>& on_interval);

}  // namespace loaderscope::watch
