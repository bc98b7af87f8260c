#include "rendezvous/process_address.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/private_folder.h"
#include "base/secret.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxProcesses = 16'384;  // limit of peers of one process
constexpr std::uint16_t kUsualPort = 29500;     // torchrun's own

// The names of one launcher.
struct Launcher {
  const char* number;
  const char* processes;
  const char* hosts;  // variable that replaces MASTER_ADDR; "": there is none
  const char* job;
  const char* part_of_job;  // number of a part of a job that is started by itself; "": there is
                            // none
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "", "PMIX_NAMESPACE", ""},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NODELIST", "SLURM_JOB_ID", "SLURM_STEP_ID"},
};

std::string variable_text(const Variable& variable, std::string_view name) {
  const char* const text = name.empty() ? nullptr : variable(std::string(name).c_str());
  return text == nullptr ? "" : text;
}

std::int64_t parse_number(const Variable& variable, const char* name, std::int64_t least,
                          std::int64_t most) {
  const std::string text = variable_text(variable, name);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= least && number <= most)
    return number;
  throw UsageError(fmt::format("--rendezvous env: {} is '{}' and no number from {} to {}", name,
                               shown_text(text), least, most),
                   "start the process with torchrun, srun or mpirun, which set it");
}

// The first host of a list such as node[03-07,09],other.
std::string first_host(std::string_view list) {
  std::string host;
  for (std::size_t i = 0; i < list.size() && list[i] != ','; ++i) {
    if (list[i] != '[') {
      host += list[i];
      continue;
    }
    const std::size_t end = list.find_first_of("-,]", i);
    host += list.substr(i + 1, std::min(end, list.size()) - i - 1);
    i = std::min(list.find(']', i), list.size() - 1);
  }
  return host;
}

// Returns the address of process 0.
std::string first_address(const Variable& variable, const Launcher& launcher) {
  const std::string address = variable_text(variable, "MASTER_ADDR");
  if (!address.empty() || *launcher.hosts == 0) return address;
  const std::string hosts = variable_text(variable, launcher.hosts);
  // Slurm's batch script has the number of a task, and is none.
  if (hosts.empty() && variable_text(variable, launcher.processes) != "1")
    throw UsageError(
        fmt::format("--rendezvous env: {} is set without {}, so this is no task of a job step",
                    launcher.number, launcher.hosts),
        "start it with srun");
  return first_host(hosts);
}

// Avoids MASTER_PORT itself if torchrun's agent may listen there.
std::uint16_t choose_port(const Variable& variable) {
  const bool is_taken = variable_text(variable, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  const std::int64_t port =
      variable_text(variable, "MASTER_PORT").empty()
          ? kUsualPort
          : parse_number(variable, "MASTER_PORT", 1, is_taken ? 65534 : 65535);
  return static_cast<std::uint16_t>(is_taken ? port + 1 : port);
}

// "": it is of another kind, or of one link alone, where its name would be needed too.
std::string address_text(const sockaddr& address) {
  if (address.sa_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    if (IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr)) return "";
  } else if (address.sa_family != AF_INET) {
    return "";
  }
  char text[NI_MAXHOST] = "";
  const socklen_t size = address.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return ::getnameinfo(&address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0 ? text
                                                                                           : "";
}

constexpr std::size_t kShortest = 16, kRandomBytes = 32;

RunError bad_file(const std::string& path, const std::string& why) {
  return RunError(
      fmt::format("rendezvous: {}, which holds the token of this user's jobs, {}", shown_text(path),
                  why),
      fmt::format("remove it, or set {} to one random text for all processes", kTokenVariable));
}

std::string read_token(int file, const std::string& path) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0) throw bad_file(path, std::strerror(errno));
  if (!S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid() || (facts.st_mode & 077) != 0)
    throw bad_file(path, "is no file of this user alone");
  std::string text(2 * kRandomBytes, '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), 0);
  if (got != std::ssize(text)) throw bad_file(path, "is cut off");
  return text;
}

// Whole or not at all, on NFS too: of several processes that come at once, one makes it.
void make_file(const std::string& folder, const std::string& path) {
  if (const int error = make_private_folders(folder))
    throw bad_file(path, std::string("cannot be made: ") + std::strerror(error));
  std::string hidden = folder + "/.job-token.XXXXXX";
  const Fd file(::mkostemp(hidden.data(), O_CLOEXEC));
  if (file < 0) throw bad_file(path, std::string("cannot be made: ") + std::strerror(errno));
  const std::string token = hex_text(random_bytes(kRandomBytes));
  const bool is_whole =
      ::write(file, token.data(), token.size()) == std::ssize(token) && ::fsync(file) == 0;
  const bool is_there = is_whole && (::link(hidden.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const int error = errno;
  ::unlink(hidden.c_str());
  if (!is_there) throw bad_file(path, std::string("cannot be made: ") + std::strerror(error));
}

}  // namespace

std::int64_t started_by(const Variable& variable, const char* name) {
  const std::string text = variable_text(variable, name);
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

ProcessAddress place_by_environment(const Variable& variable) {
  for (const Launcher& launcher : kLaunchers) {
    if (variable_text(variable, launcher.number).empty()) continue;
    ProcessAddress place;
    place.processes = parse_number(variable, launcher.processes, 1, kMaxProcesses);
    place.number = parse_number(variable, launcher.number, 0, place.processes - 1);
    const std::string address = first_address(variable, launcher);
    if (address.empty() && place.processes > 1)
      throw UsageError("--rendezvous env: MASTER_ADDR is not set",
                       "set it to the address of the host of process 0, on all hosts");
    place.addresses = {address};
    place.port = choose_port(variable);
    place.job = fmt::format("{} {}", variable_text(variable, launcher.job),
                            variable_text(variable, launcher.part_of_job));
    return place;
  }
  throw UsageError(
      "--rendezvous env: none of RANK, OMPI_COMM_WORLD_RANK and SLURM_PROCID is set",
      "start it with torchrun, mpirun or srun, or set RANK, WORLD_SIZE, MASTER_ADDR and "
      "MASTER_PORT");
}

std::vector<std::string> own_addresses() {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return {"127.0.0.1"};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(found, ::freeifaddrs);
  std::vector<std::string> outside, inside;
  for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    const std::string text = address_text(*one->ifa_addr);
    if (text.empty()) continue;
    ((one->ifa_flags & IFF_LOOPBACK) != 0 ? inside : outside).push_back(text);
  }
  std::stable_partition(outside.begin(), outside.end(),
                        [](const std::string& text) { return text.find(':') == text.npos; });
  outside.insert(outside.end(), inside.begin(), inside.end());
  return outside;
}

Secret job_token(const Variable& variable, const std::string& folder) {
  if (const char* given = variable(kTokenVariable); given != nullptr) {
    Secret token{std::string(given)};
    if (token.exposed().size() >= kShortest) return token;
    throw UsageError(fmt::format("{}: is too short to be a secret", kTokenVariable),
                     fmt::format("give at least {} random letters", kShortest));
  }
  if (folder.empty())
    throw UsageError("--rendezvous: there is no home folder for the token of the job",
                     fmt::format("set {} to one random text for all processes", kTokenVariable));
  const std::string path = folder + "/job-token";
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Fd file(::open(path.c_str(), kFlags));
  if (file < 0 && errno == ENOENT) {
    make_file(folder, path);
    file = Fd(::open(path.c_str(), kFlags));
  }
  if (file < 0) throw bad_file(path, std::strerror(errno));
  return Secret(read_token(file, path));
}

}  // namespace loaderscope
