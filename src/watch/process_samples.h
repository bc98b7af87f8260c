// One process of a watched job: what was read of it, and what that adds up to.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "machine/process_counters.h"
#include "watch/roles.h"
#include "watch/thread_activity.h"

namespace loaderscope::watch {

// Seconds, bytes and counts of one process, or of several together.
struct Totals {
  double watched_s = 0, user_s = 0, system_s = 0, no_core_s = 0;
  std::array<double, kDoings> waits_s{};  // seconds of the main thread, `runs` on a core
  std::int64_t looks = 0, major_faults = 0;
  double read = 0, storage = 0;

  void add(const Totals& other);
  Shares shares() const;
};

class ProcessSamples {
 public:
  ProcessSamples(const std::filesystem::path& root, const JobProcess& process);

  const JobProcess& process() const { return process_; }
  void know(const JobProcess& process);  // updates its role and numbers
  bool has_ended() const { return has_ended_; }
  bool is_io_known() const { return is_io_known_; }

  void sample(Nanos at);      // reads the kernel's counters
  void look(double every_s);  // samples the activity; `every_s`: interval of such samples
  void look_at_memory(Nanos at);
  void look_at_files();
  void restart();  // forgets all but the last sample

  Totals totals() const;
  double cpu_s() const;  // since the last restart
  // Since the sample before the last, by the second: CPU time, and how often the main thread came
  // on a core.
  double latest_cpu() const { return per_second(latest_.cpu_s() - before_.cpu_s()); }
  double latest_turns() const {
    return per_second(static_cast<double>(latest_.turns - before_.turns));
  }
  const ThreadLook& latest_look() const { return look_; }
  std::int64_t count_looks(ThreadActivity doing) const {
    return looks_[static_cast<std::size_t>(doing)];
  }
  std::int64_t unknown_looks() const { return unknown_looks_; }
  // Waits for messages that the samples of activity met.
  std::int64_t waits() const { return waits_; }
  double every_s() const { return every_s_; }

  WatchedProcess report() const;

 private:
  struct Counters {
    Nanos at = 0;
    double user_s = 0, system_s = 0;
    Nanos main_cpu = 0, no_core = 0;
    std::int64_t turns = 0, major_faults = 0;
    double read = 0, storage = 0;

    double cpu_s() const { return user_s + system_s; }
  };
  struct Place {
    std::int64_t looks = 0;
    std::string object;  // the last one
  };

  double per_second(double grown) const {
    return latest_.at > before_.at ? grown / seconds(latest_.at - before_.at) : grown;
  }
  std::optional<Counters> read(Nanos at);
  std::string where() const;

  std::filesystem::path root_;
  std::string folder_;
  JobProcess process_;
  bool has_ended_ = false, is_io_known_ = false;
  Counters first_, before_, latest_;
  ThreadLook look_;
  std::array<std::int64_t, kDoings> looks_{};
  std::int64_t unknown_looks_ = 0, waits_ = 0;
  double every_s_ = 0;
  std::map<std::string, Place, std::less<>> places_;  // keyed by the call
  MemoryWatch memory_;
  double private_bytes_ = 0;
  std::int64_t open_files_ = 0, most_files_ = 0;
};

// Adds what a process has used since its last restart to the counters of its rank.
void add_counters(const ProcessSamples& process, std::map<std::int64_t, RankCounters>& counters);

}  // namespace loaderscope::watch
