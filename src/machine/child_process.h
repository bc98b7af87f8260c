// A command and everything that it starts. Several may run at once, each used by the thread that
// made it. Processes that one of them leaves while others run are taken for theirs as well.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope {

using Variables = std::vector<std::pair<std::string, std::string>>;

// The process group of a command. `own` cannot use our terminal. With `ours` the command is part of
// our job for the shell: it may ask at the terminal, and Ctrl-C and Ctrl-Z reach it as without us.
// Without a terminal, `ours` is the same as `own`, so that a command that ends its whole group does
// not end us.
enum class ProcessGroup : std::uint8_t { own, ours };

class ChildProcess {
 public:
  // Starts `command` with `variables` added to the environment. What it prints goes to `output`, a
  // descriptor: standard output is for the answer. `folder`: where it works; "": where we do.
  // With `errors`, a descriptor, standard error goes there and standard input is empty.
  // Throws RunError when it cannot be started.
  ChildProcess(const std::vector<std::string>& command, const Variables& variables, int output,
               const std::string& folder = "", ProcessGroup group = ProcessGroup::own,
               int errors = -1);
  ~ChildProcess();  // ends what still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Returns its status, as from waitpid; nothing while it runs.
  std::optional<int> status();
  void signal(int number);  // sends to all of its processes in its group
  // Asks it to end, as Ctrl-C does. Stopped processes continue, so that they can.
  void interrupt();
  bool has_descendants();  // true if it has ended and processes that it started still run
  // Kills what is left of the group and of processes that left it.
  void end_all();
  void kill_descendants(pid_t process);  // does nothing unless the ended command has left this
                                         // process
  // Leave processes that outlive the program alone.
  void wait_for_descendants(Nanos patience);
  void let_offspring_go();

 private:
  void reap();
  std::set<pid_t> offspring();
  std::set<pid_t> group_members();

  const std::set<pid_t> earlier_children_;  // children that this process had before
  const bool has_own_group_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

// The terminal that this process shares with the programs that it starts. It sends its signals to a
// whole process group: a program in our group gets them from the terminal, as without us.
bool has_controlling_terminal();

// Remembers if `sender` is the terminal. Call it from a handler of signals.
void note_sender(const siginfo_t& sender);
// True if the last signal that was noted came from the terminal.
bool was_sent_by_terminal();

}  // namespace loaderscope
