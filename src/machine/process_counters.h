// Counters of the whole process and its machine for the window: CPU, faults, switches, bytes read,
// steal, throttling, and memory.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "loaderscope/run_record.h"

struct rusage;
struct timeval;

namespace loaderscope {

double timeval_seconds(const timeval& time);

// Resources that ended processes used.
struct EndedProcesses {
  double user_s = 0, system_s = 0;
  std::int64_t minor_faults = 0, major_faults = 0;
  std::int64_t voluntary_switches = 0, involuntary_switches = 0;
  Bytes read_from_storage = 0;

  void add(const rusage& usage);
};

// The worker processes that count as part of this one.
struct OtherProcesses {
  std::vector<pid_t> running;
  EndedProcesses ended;
};

struct ProcessCounters {
  Nanos at = 0;
  double user_s = 0, system_s = 0;
  std::int64_t minor_faults = 0, major_faults = 0;
  std::int64_t voluntary_switches = 0, involuntary_switches = 0;
  Bytes read_from_storage = 0;        // /proc/self/io read_bytes
  std::optional<double> steal_s;      // sum over the whole machine
  std::optional<double> throttled_s;  // time of this cgroup
  std::optional<double> busy_s;       // time of all programs on the CPUs that this process may use
  std::int64_t threads = 0;           // threads of this process
  Bytes resident = 0;                 // bytes; other processes count only with memory that is not
                                      // shared
  Bytes shared = 0, locked = 0;
  std::optional<Bytes> free;  // memory that processes here may still take
};

// Reads the counters of this process and `others`. `root` is "/", or a folder with its own
// sys/fs/cgroup for tests.
ProcessCounters read_process_counters(const OtherProcesses& others = {},
                                      const std::filesystem::path& root = "/");
// Reads the counters of `processes` alone.
ProcessCounters read_other_counters(const OtherProcesses& processes);
// Interpolates linearly from `a` to `b` at time `at`. The state is that of `b`.
ProcessCounters between(const ProcessCounters& a, const ProcessCounters& b, Nanos at);

// Looks at memory now and then, and fits its slope.
class MemoryWatch {
 public:
  // At most twice a second it really looks, and asks for the other processes.
  void look(const std::function<OtherProcesses()>& others = {});
  void note(Nanos at, double bytes);  // adds a sample that the caller has taken
  void restart();
  std::optional<double> bytes_per_second() const;  // missing for less than two seconds

 private:
  struct Point {
    double at_s, bytes;
  };
  Nanos last_ = 0;
  std::vector<Point> points_;
};

// The described differences between two readings, and the state at the second.
std::vector<Metric> process_metrics(const ProcessCounters& begin, const ProcessCounters& end,
                                    const MemoryWatch& memory);

}  // namespace loaderscope
