// Network namespaces as hosts, each with a name of its own, on a bridge in one more; and a host
// that only serves.
#pragma once

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/run_binary.h"
#include "unit/source/remote/fault_server.h"

namespace loaderscope::testing_cli {

inline constexpr const char* kIp = "/usr/sbin/ip";

class PretendHosts {
 public:
  // `name` is short and unique on this machine.
  PretendHosts(const std::string& name, int hosts) : name_(name) {
    if (::geteuid() != 0 || ::access(kIp, X_OK) != 0) {
      why_not_ = "no network namespaces without root and ip";
      return;
    }
    for (int i = -2; i < hosts; ++i) {
      if (!ip({"netns", "add", space(i)})) {
        why_not_ = "network namespaces are not allowed";
        return;
      }
      spaces_.push_back(space(i));
    }
    bool joined = ip({"-n", space(-2), "link", "add", "br0", "type", "bridge"}) &&
                  ip({"-n", space(-2), "link", "set", "br0", "up"});
    for (int i = -1; i < hosts; ++i) joined = joined && join(i);
    if (!joined) why_not_ = "network namespaces cannot be joined";
  }
  ~PretendHosts() {
    for (const std::string& space : spaces_) ip({"netns", "del", space});
  }
  PretendHosts(const PretendHosts&) = delete;
  PretendHosts& operator=(const PretendHosts&) = delete;

  const std::string& why_not() const { return why_not_; }  // "": they are there
  static constexpr int kStore = -1;
  static std::string address(int host) { return "10.77.0." + std::to_string(host + 2); }

  bool cut(int host) { return ip({"-n", space(-2), "link", "set", port(host), "down"}); }
  // Limits the rate of data that is sent to the host, or by the store. A rate is "20mbit".
  bool shape(int host, const std::string& rate) {
    const bool is_store = host == kStore;
    const Words words = {"-n",      is_store ? space(host) : space(-2),
                         "qdisc",   "add",
                         "dev",     is_store ? "eth0" : port(host),
                         "root",    "tbf",
                         "rate",    rate,
                         "burst",   "32kb",
                         "latency", "200ms"};
    return ::access("/usr/sbin/tc", X_OK) == 0 && run_program("/usr/sbin/tc", words).exit_code == 0;
  }
  std::unique_ptr<source::FaultServer> served(const std::string& folder) const {
    return std::make_unique<source::FaultServer>(folder, "fault_server.py", "python3",
                                                 space(kStore));
  }

  // A program on that host, which is called `host_name`.
  std::unique_ptr<RunningBinary> started(int host, const std::string& host_name,
                                         const Words& program) const {
    // Not by 'ip netns exec', which hides the control groups.
    Words words = {"--net=/run/netns/" + space(host), "unshare", "--uts", "sh", "-c",
                   "hostname \"$0\"; exec \"$@\"",    host_name};
    words.insert(words.end(), program.begin(), program.end());
    return std::make_unique<RunningBinary>(words, "", "/usr/bin/nsenter");
  }

 private:
  static bool ip(const Words& words) { return run_program(kIp, words).exit_code == 0; }
  std::string space(int host) const { return name_ + "-" + std::to_string(host + 2); }
  static std::string port(int host) { return "v" + std::to_string(host + 2); }
  bool join(int host) const {
    return ip({"-n", space(-2), "link", "add", port(host), "type", "veth", "peer", "name", "eth0",
               "netns", space(host)}) &&
           ip({"-n", space(-2), "link", "set", port(host), "master", "br0", "up"}) &&
           ip({"-n", space(host), "addr", "add", address(host) + "/24", "dev", "eth0"}) &&
           ip({"-n", space(host), "link", "set", "lo", "up"}) &&
           ip({"-n", space(host), "link", "set", "eth0", "up"});
  }

  std::string name_, why_not_;
  std::vector<std::string> spaces_;
};

}  // namespace loaderscope::testing_cli
