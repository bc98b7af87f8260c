#include "machine/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/fd.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "machine/proc_file.h"

extern char** environ;

namespace loaderscope {
namespace {

std::vector<std::string> environment_with(const Variables& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    bool replaced = false;
    for (const auto& [name, value] : variables) replaced |= text.starts_with(name + "=");
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : variables) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

void close_input() {
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::close(nothing);
}

// Lets the kernel send SIGTERM to this process if its parent is killed. Ends the process if the
// parent has ended before this call.
void end_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
}

struct Start {
  char* const* command;
  char* const* variables;
  const char* folder;
  int output, errors, failure;
  bool has_own_group, keeps_terminal;
  pid_t parent;
};

[[noreturn]] void become(const Start& start) {
  if (start.has_own_group) ::setpgid(0, 0);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  end_with(start.parent);
  // A process group in the background may not read the terminal.
  const bool may_not_read = !start.keeps_terminal && ::isatty(STDIN_FILENO) == 1;
  if (may_not_read || start.errors >= 0) close_input();
  ::dup2(start.output, STDOUT_FILENO);
  ::dup2(start.errors >= 0 ? start.errors : start.output, STDERR_FILENO);
  if (*start.folder == '\0' || ::chdir(start.folder) == 0)
    ::execvpe(start.command[0], start.command, start.variables);
  const int error = errno;
  static_cast<void>(::write(start.failure, &error, sizeof error));
  ::_exit(127);
}

std::string next_step(int error) {
  return error == ENOENT ? "name a program that is on the PATH" : "look at its permissions";
}

// The running commands of this process. Only its own ChildProcess waits for the end of each.
class Commands {
 public:
  void add(pid_t pid) {
    const std::lock_guard lock(mutex_);
    pids_.insert(pid);
  }
  void remove(pid_t pid) {
    const std::lock_guard lock(mutex_);
    pids_.erase(pid);
  }
  bool has(pid_t pid) {
    const std::lock_guard lock(mutex_);
    return pids_.contains(pid);
  }

 private:
  std::mutex mutex_;
  std::set<pid_t> pids_;
};

Commands& commands() {
  static Commands all;
  return all;
}

std::set<pid_t> own_children() {
  const std::vector<pid_t> children = list_children(::getpid());
  return {children.begin(), children.end()};
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const Variables& variables,
                           int output, const std::string& folder, ProcessGroup group, int errors)
    : earlier_children_(own_children()),
      has_own_group_(group == ProcessGroup::own || !has_controlling_terminal()) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // adopts processes that outlive their parent
  std::vector<std::string> words = command, all = environment_with(variables);
  const std::vector<char*> argv = pointers(words), envp = pointers(all);
  int failure[2];
  if (::pipe2(failure, O_CLOEXEC) != 0) {
    throw RunError(command.front() + ": cannot be started (" + std::strerror(errno) + ")");
  }
  const Start start = {argv.data(), envp.data(), folder.c_str(), output,
                       errors,      failure[1],  has_own_group_, group == ProcessGroup::ours,
                       ::getpid()};
  pid_ = ::fork();
  if (pid_ == 0) become(start);
  ::close(failure[1]);
  if (pid_ > 0 && has_own_group_) ::setpgid(pid_, pid_);
  int error = pid_ < 0 ? errno : 0;
  const ssize_t received = ::read(failure[0], &error, sizeof error);
  ::close(failure[0]);
  if (pid_ > 0 && received <= 0) {
    commands().add(pid_);
    return;
  }
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
  throw RunError(shown_text(command.front()) + ": cannot be started (" + std::strerror(error) + ")",
                 next_step(error));
}

ChildProcess::~ChildProcess() { end_all(); }

// Also collects ended processes that the command left. No other process waits for them.
void ChildProcess::reap() {
  int status = 0;
  if (!status_ && pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    status_ = status;
    commands().remove(pid_);
  }
  for (;;) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    if (commands().has(ended.si_pid)) return;  // the ChildProcess of that command comes first
    ::waitpid(ended.si_pid, nullptr, WNOHANG);
  }
}

std::optional<int> ChildProcess::status() {
  if (!status_) reap();
  return status_;
}

void ChildProcess::signal(int number) {
  if (pid_ <= 0) return;
  if (has_own_group_) {
    ::kill(-pid_, number);
  } else {
    for (const pid_t process : group_members()) ::kill(process, number);
  }
}

// The terminal has sent its SIGINT to all of our group.
void ChildProcess::interrupt() {
  if (pid_ <= 0) return;
  if (has_own_group_ || !was_sent_by_terminal()) signal(SIGINT);
  for (const pid_t process : group_members()) {
    const auto stat = read_process_stat("/proc/" + std::to_string(process));
    if (stat && stat->state == 'T') ::kill(process, SIGCONT);
  }
}

// Excludes processes that an earlier program has left, and other commands.
std::set<pid_t> ChildProcess::offspring() {
  reap();
  std::set<pid_t> left = own_children();
  std::erase_if(left, [this](pid_t process) {
    return earlier_children_.contains(process) || (process != pid_ && commands().has(process));
  });
  return left;
}

// Processes that left the group do not want its signals.
std::set<pid_t> ChildProcess::group_members() {
  const pid_t group = has_own_group_ ? pid_ : ::getpgrp();
  std::set<pid_t> members;
  for (const pid_t first : offspring()) {
    members.insert(first);
    for (const pid_t process : list_descendants(first)) members.insert(process);
  }
  std::erase_if(members, [&](pid_t process) { return ::getpgid(process) != group; });
  return members;
}

bool ChildProcess::has_descendants() { return !offspring().empty(); }

void ChildProcess::end_all() {
  if (pid_ <= 0) return;
  constexpr Nanos kAnswerTimeout = 5 * kSecond;  // limit for processes that hang in the kernel
  const Nanos until = monotonic_now() + kAnswerTimeout;
  signal(SIGKILL);
  for (;;) {
    const std::set<pid_t> left = offspring();
    if (left.empty() || monotonic_now() > until) break;
    for (const pid_t process : left) ::kill(process, SIGKILL);
    sleep_until(monotonic_now() + kMillisecond);
  }
  commands().remove(pid_);
  pid_ = -1;
}

void ChildProcess::kill_descendants(pid_t process) {
  if (offspring().contains(process)) ::kill(process, SIGKILL);
}

void ChildProcess::wait_for_descendants(Nanos patience) {
  const Nanos until = monotonic_now() + patience;
  while (has_descendants() && monotonic_now() < until)
    sleep_until(monotonic_now() + 10 * kMillisecond);
}

void ChildProcess::let_offspring_go() {
  reap();
  commands().remove(pid_);
  pid_ = -1;
}

namespace {

std::atomic<bool> is_of_terminal{false};
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

bool has_controlling_terminal() {
  return Fd(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) >= 0;
}

// Other processes send with SI_USER, SI_QUEUE or SI_TKILL.
void note_sender(const siginfo_t& sender) { is_of_terminal.store(sender.si_code == SI_KERNEL); }

bool was_sent_by_terminal() { return is_of_terminal.load(); }

}  // namespace loaderscope
