// All processes of a job and its machine, read again and again.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "machine/gpu_load.h"
#include "machine/machine_load.h"
#include "watch/map_results.h"
#include "watch/process_samples.h"
#include "watch/watch.h"

namespace loaderscope::watch {

class JobSampler {
 public:
  // `own`: this program, which is none of the others. `gpus` outlives this.
  JobSampler(const std::filesystem::path& root, pid_t pid, pid_t own, const GpuLoads& gpus);

  // Samples the kernel's counters of each process. Call it every interval, with growing `at`.
  void sample(Nanos at);
  void sample_others(Nanos at);  // reads other programs; call it once at the end, else they are
                                 // read now and then
  // Samples the activity of threads. It covers all trainers, and only some workers in each round to
  // limit the cost. Call it every kTick.
  static constexpr Nanos kTick = 50 * kMillisecond;
  void look();
  void sample_gpus();

  bool has_ended() const { return has_ended_; }
  // Time without progress during which a trainer waits; 0: the job makes progress.
  Nanos hung_for() const { return still_since_ == 0 ? 0 : latest_at_ - still_since_; }
  // Trainers and workers that are there.
  std::vector<const ProcessSamples*> traces(Role role) const;
  // Returns the measured part, without conclusions.
  Watch report() const;

 private:
  void refresh(Nanos at);
  void begin(Nanos at);
  void begin_machine(const ProcessTable& all, Nanos at);
  void note_no_progress(Nanos at);
  void look_at_map_results();
  void fold(const ProcessSamples& ended);
  void fold_ended();
  double look_rate(std::size_t processes) const;
  void report_workers(Watch& watch) const;
  void report_waits(Watch& watch) const;
  void report_machine(Watch& watch) const;
  void report_unseen(Watch& watch) const;
  void report_counters(Watch& watch) const;
  std::set<pid_t> own_family(const ProcessTable& all) const;

  std::filesystem::path root_;
  pid_t pid_, own_;
  std::int64_t started_ = 0;
  const GpuLoads* gpus_;
  std::map<pid_t, ProcessSamples> traces_;
  std::vector<pid_t> order_;  // trainers, each followed by its workers, then others
  Totals ended_workers_;
  double ended_cpu_s_ = 0;
  // Counters of ended processes, and of the time before the last restart of the sums.
  std::map<std::int64_t, RankCounters> past_;
  std::int64_t workers_seen_ = 0, samples_ = 0, looks_ = 0;
  std::size_t turn_ = 0;
  double worker_credit_ = 0, trainer_credit_ = 0;
  std::size_t trainer_turn_ = 0;
  bool has_ended_ = false, had_workers_ = false;
  Nanos first_at_ = 0, latest_at_ = 0, refresh_at_ = 0, slow_at_ = 0, still_since_ = 0;
  double waited_for_workers_s_ = 0;  // time before workers were there, from the first sample
  // State of the machine, at the begin and at the latest sample.
  struct State {
    std::optional<MachineLoad> load;
    std::map<std::string, DiskLoad> disks;
    std::optional<double> throttled_s;
  };
  State read_state() const;
  State begin_, now_;
  std::optional<OtherPrograms> others_begin_, others_now_;
  Nanos others_begin_at_ = 0, others_now_at_ = 0;
  double shm_used_ = 0, shm_size_ = 0;
  MapResultsWatch map_results_;
  struct GpuSum {
    GpuLoad last;
    double busy = 0, memory = 0;
    std::int64_t samples = 0;
  };
  std::vector<GpuSum> gpu_sums_;
};

}  // namespace loaderscope::watch
