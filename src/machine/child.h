// A command as a process group of its own, and everything that it starts. Several may run beside
// each other, each used by the thread that made it; what one leaves behind while others run is
// taken for theirs as well.
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope {

using Variables = std::vector<std::pair<std::string, std::string>>;

class Child {
 public:
  // Starts `command` with `variables` added to the environment. What it prints goes to `output`, a
  // descriptor: standard output is for the answer. `folder`: where it works; "": where we do.
  // Throws RunError when it cannot be started.
  Child(const std::vector<std::string>& command, const Variables& variables, int output,
        const std::string& folder = "");
  ~Child();  // ends what still runs
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  // How it ended, as waitpid says; nothing while it runs.
  std::optional<int> status();
  void signal(int number) const;  // to the whole group
  bool has_offspring();           // processes that it has left behind, once it has ended
  // Kills what is left of the group and of processes that left it.
  void end_all();
  void end_offspring(pid_t process);  // nothing where it is none that was left behind
  // Those that outlive the program are left alone.
  void await_offspring(Nanos patience);
  void let_offspring_go();

 private:
  void reap();
  std::set<pid_t> offspring();

  const std::set<pid_t> of_others_;  // children that this process had before
  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace loaderscope
