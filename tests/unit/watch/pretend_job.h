// A made /proc with the processes of a job, whose counters are set by hand.
#pragma once

#include <filesystem>
#include <string>

#include "unit/machine/pretend_root.h"

namespace loaderscope::watch::test {

// The command line of a training, as /proc has it.
inline const std::string kTrain{"python\0train.py\0", 16};

struct Counters {
  double cpu_s = 0, no_core_s = 0;
  long turns = 1;
  double rchar = 0, storage = 0;
  char state = 'S';
  std::string syscall = "running";
  std::string wchan = "0";
};

class PretendJob {
 public:
  void process(int pid, int parent, const std::string& name, const std::string& command,
               const Counters& now, int started = 50) const {
    const std::string folder = "proc/" + std::to_string(pid);
    const long ticks = static_cast<long>(now.cpu_s * 100);
    const std::string stat = std::to_string(pid) + " (" + name + ") " + now.state + " " +
                             std::to_string(parent) + " 1 1 0 -1 0 0 0 0 0 " +
                             std::to_string(ticks) + " 0 0 0 20 0 1 0 " + std::to_string(started) +
                             " 0 0\n";
    const std::string schedstat =
        nanos(now.cpu_s) + " " + nanos(now.no_core_s) + " " + std::to_string(now.turns) + "\n";
    for (const std::string& place : {folder, folder + "/task/" + std::to_string(pid)}) {
      root_.write(place + "/stat", stat);
      root_.write(place + "/schedstat", schedstat);
      root_.write(place + "/syscall", now.syscall);
      root_.write(place + "/wchan", now.wchan);
    }
    root_.write(folder + "/cmdline", command);
    root_.write(folder + "/status", "RssAnon:\t1000 kB\nCpus_allowed_list:\t0-3\n");
    root_.write(folder + "/io",
                "rchar: " + std::to_string(static_cast<long>(now.rchar)) +
                    "\nread_bytes: " + std::to_string(static_cast<long>(now.storage)) + "\n");
  }
  // Adds `file` to the open files of `pid`.
  void open(int pid, int descriptor, const std::string& file) const {
    const std::filesystem::path folder = path() / "proc" / std::to_string(pid) / "fd";
    std::filesystem::create_directories(folder);
    std::filesystem::remove(folder / std::to_string(descriptor));
    std::filesystem::create_symlink(file, folder / std::to_string(descriptor));
  }
  void end(int pid) const { std::filesystem::remove_all(path() / "proc" / std::to_string(pid)); }
  void machine(double busy_s) const {
    root_.write("proc/stat",
                "cpu " + std::to_string(static_cast<long>(busy_s * 100)) + " 0 0 9 0 0 0 0 0 0\n");
  }
  void write(const std::string& name, const std::string& text) const { root_.write(name, text); }
  std::filesystem::path path() const { return root_.path(); }

 private:
  static std::string nanos(double s) { return std::to_string(static_cast<long>(s * 1e9)); }

  loaderscope::test::PretendRoot root_;
};

// Calls as /proc/PID/syscall has them.
inline constexpr const char* kPollPipe = "7 0x7f0000000000 0x1 0x1388 0x0 0x0 0x0 0x7ffd 0x7f";
inline constexpr const char* kReadPipe = "0 0x5 0x7f0000000000 0x1 0x0 0x0 0x0 0x7ffd 0x7f";
inline constexpr const char* kReadFile = "0 0x6 0x7f0000000000 0x1 0x0 0x0 0x0 0x7ffd 0x7f";
inline constexpr const char* kSleep = "230 0x1 0x0 0x7ffd 0x0 0x0 0x0 0x7ffd 0x7f";

}  // namespace loaderscope::watch::test
