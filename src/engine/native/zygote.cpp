#include "engine/native/zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <type_traits>

#include "base/failure_text.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

using State = WorkerProcess::State;
static_assert(std::is_trivially_copyable_v<Zygote::Order>);

// The calling process ends with its parent, also with one that has ended by now.
void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
}

sigset_t child_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  return signals;
}

// The zygote's own life.
class Server {
 public:
  Server(ProcessTable& table, const std::atomic<int>& stop, const Zygote::Bodies& bodies,
         int socket)
      : table_(table), stop_(stop), bodies_(bodies), socket_(socket), pid_(::getpid()) {
    const sigset_t signals = child_signals();
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    ended_ = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  }

  // Serves until no process is left that could order a worker.
  void serve() {
    for (;;) {
      std::array<pollfd, 2> watched = {{{socket_, POLLIN, 0}, {ended_, POLLIN, 0}}};
      ::poll(watched.data(), watched.size(), -1);
      if (watched[1].revents != 0) {
        signalfd_siginfo info{};
        while (::read(ended_, &info, sizeof info) > 0) {
        }
        reap(WNOHANG);
      }
      if (watched[0].revents != 0 && !take_order()) break;
    }
    kill_all();
    reap(0);
  }

 private:
  bool take_order() {
    Zygote::Order order{};
    const ssize_t length = ::recv(socket_, &order, sizeof order, 0);
    if (length < 0 && errno == EINTR) return true;
    if (length != static_cast<ssize_t>(sizeof order)) return false;
    if (bodies_.before_fork) bodies_.before_fork(order);
    const bool wanted = stop_.load(std::memory_order_relaxed) == 0;
    const pid_t pid = wanted ? ::fork() : 0;
    if (wanted && pid == 0) work(order);
    const int error = pid < 0 ? errno : 0;
    const std::lock_guard lock(table_.mutex);
    WorkerProcess& process = table_.processes[order.process];
    process.state = pid > 0 ? State::running : State::ended;
    process.pid = std::max(pid, 0);
    process.status = 0;
    process.not_started = error;
    table_.changed.notify_all();
    return true;
  }

  [[noreturn]] void work(const Zygote::Order& order) {
    die_with(pid_);
    const sigset_t signals = child_signals();
    ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
    ::close(socket_);
    ::close(ended_);
    WorkerFailure& failure = table_.processes[order.process].failure;
    try {
      bodies_.worker(order);
    } catch (...) {
      failure.keep(std::current_exception());
    }
    ::_exit(failure.kept() ? 1 : 0);  // no buffer of the parent is flushed or destroyed here
  }

  void kill_all() {
    const std::lock_guard lock(table_.mutex);
    for (const WorkerProcess& process : table_.processes) {
      if (process.state == State::running) ::kill(process.pid, SIGKILL);
    }
  }

  void reap(int options) {
    int status = 0;
    rusage usage{};
    for (pid_t pid = 0; (pid = ::wait4(-1, &status, options, &usage)) > 0;) {
      const std::lock_guard lock(table_.mutex);
      table_.used.add(usage);
      for (WorkerProcess& process : table_.processes) {
        if (process.state != State::running || process.pid != pid) continue;
        process.state = State::ended;
        process.status = status;
      }
      table_.changed.notify_all();
    }
  }

  ProcessTable& table_;
  const std::atomic<int>& stop_;
  const Zygote::Bodies& bodies_;
  int socket_, ended_ = -1;
  pid_t pid_;
};

}  // namespace

Zygote::Zygote(ProcessTable& table, const std::atomic<int>& stop, const Bodies& bodies) {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    throw RunError(std::string("worker processes cannot be reached (") + std::strerror(errno) + ")",
                   "raise the limit of open files with ulimit -n");
  }
  socket_ = sockets[0];
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
    die_with(parent);
    ::prctl(PR_SET_NAME, "zygote");
    ::close(sockets[0]);
    Server(table, stop, bodies, sockets[1]).serve();
    ::_exit(0);
  }
  const int error = errno;
  ::close(sockets[1]);
  if (pid_ < 0) {
    ::close(socket_);
    throw RunError(std::string("worker processes cannot be started (") + std::strerror(error) + ")",
                   "raise the limit with ulimit -u, or give --executor threads");
  }
}

void Zygote::end() { ::shutdown(socket_, SHUT_WR); }

Zygote::~Zygote() {
  ::close(socket_);
  if (status_) return;
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Zygote::order(const Order& order) {
  while (::send(socket_, &order, sizeof order, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    throw RunError(std::string("the process that forks the workers cannot be reached (") +
                       std::strerror(errno) + ")",
                   "run again, or give --executor threads");
  }
}

std::optional<std::string> Zygote::death() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  if (!status_) return std::nullopt;
  return "the process that forks the workers (pid " + std::to_string(pid_) + ") " +
         describe_exit(*status_);
}

}  // namespace loaderscope::native
