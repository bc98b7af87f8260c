#include "rendezvous/process_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

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

std::string text_of(const Variable& variable, std::string_view name) {
  const char* const text = name.empty() ? nullptr : variable(std::string(name).c_str());
  return text == nullptr ? "" : text;
}

std::int64_t number_of(const Variable& variable, const char* name, std::int64_t least,
                       std::int64_t most) {
  const std::string text = text_of(variable, name);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= least && number <= most)
    return number;
  throw UsageError(
      fmt::format("--rendezvous env: {} is '{}'; expected a number from {} to {}, as "
                  "torchrun, srun or mpirun sets it",
                  name, shown_text(text), least, most));
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
std::string address_of(const Variable& variable, const Launcher& launcher) {
  const std::string address = text_of(variable, "MASTER_ADDR");
  if (!address.empty() || *launcher.hosts == 0) return address;
  const std::string hosts = text_of(variable, launcher.hosts);
  // Slurm's batch script has the number of a task, and is none.
  if (hosts.empty() && text_of(variable, launcher.processes) != "1")
    throw UsageError(
        fmt::format("--rendezvous env: {} is set and {} is not: this is no task of a job step; "
                    "start it with srun",
                    launcher.number, launcher.hosts));
  return first_host(hosts);
}

// Avoids MASTER_PORT itself if torchrun's agent may listen there.
std::uint16_t port_in(const Variable& variable) {
  const bool is_taken = text_of(variable, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  const std::int64_t port = text_of(variable, "MASTER_PORT").empty()
                                ? kUsualPort
                                : number_of(variable, "MASTER_PORT", 1, is_taken ? 65534 : 65535);
  return static_cast<std::uint16_t>(is_taken ? port + 1 : port);
}

}  // namespace

std::int64_t started_by(const Variable& variable, const char* name) {
  const std::string text = text_of(variable, name);
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

ProcessAddress place_by_environment(const Variable& variable) {
  for (const Launcher& launcher : kLaunchers) {
    if (text_of(variable, launcher.number).empty()) continue;
    ProcessAddress place;
    place.processes = number_of(variable, launcher.processes, 1, kMaxProcesses);
    place.number = number_of(variable, launcher.number, 0, place.processes - 1);
    const std::string address = address_of(variable, launcher);
    if (address.empty() && place.processes > 1)
      throw UsageError(
          "--rendezvous env: MASTER_ADDR is not set; set it to the address of the host of process "
          "0, on all hosts");
    place.addresses = {address};
    place.port = port_in(variable);
    place.job = fmt::format("{} {}", text_of(variable, launcher.job),
                            text_of(variable, launcher.part_of_job));
    return place;
  }
  throw UsageError(
      "--rendezvous env: none of RANK, OMPI_COMM_WORLD_RANK and SLURM_PROCID is set; start it "
      "with torchrun, mpirun or srun, or set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
}

}  // namespace loaderscope
