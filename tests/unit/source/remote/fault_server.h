// A server of a folder on loopback: one that misbehaves as its URLs say, or another of tests/tools.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/fd.h"

namespace loaderscope::source {

class FaultServer {
 public:
  explicit FaultServer(const std::string& folder, const std::string& script = "fault_server.py",
                       const std::string& python = "python3",
                       const std::string& network_namespace = "",
                       const std::string& mounted_at = "") {
    const std::string path = LOADERSCOPE_SOURCE_DIR "/tests/tools/" + script;
    std::array<int, 2> to_server{}, from_server{};
    if (::pipe2(to_server.data(), O_CLOEXEC) != 0 || ::pipe2(from_server.data(), O_CLOEXEC) != 0)
      return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(to_server[0], STDIN_FILENO);
      ::dup2(from_server[1], STDOUT_FILENO);
      if (!network_namespace.empty())  // a namespace from which other hosts can reach it
        ::execl("/usr/sbin/ip", "ip", "netns", "exec", network_namespace.c_str(), "env",
                "FAULT_SERVER_AT=0.0.0.0", python.c_str(), path.c_str(), folder.c_str(), nullptr);
      ::execlp(python.c_str(), python.c_str(), path.c_str(), folder.c_str(),
               mounted_at.empty() ? nullptr : mounted_at.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(to_server[0]);
    ::close(from_server[1]);
    input_ = Fd(to_server[1]);
    const Fd output(from_server[0]);
    for (char letter = 0; ::read(output, &letter, 1) == 1 && letter != '\n';) said_ += letter;
  }
  ~FaultServer() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;

  bool runs() const { return !said_.empty(); }
  void send(int signal) const { ::kill(pid_, signal); }
  const std::string& said() const { return said_; }  // first line; begins with the port
  std::string url(const std::string& file, const std::string& switches = "") const {
    const std::string server = "http://127.0.0.1:" + said_ + "/";
    return switches.empty() ? server + file : server + switches + "/-/" + file;
  }

 private:
  pid_t pid_ = -1;
  Fd input_;
  std::string said_;  // first line of its output
};

}  // namespace loaderscope::source
