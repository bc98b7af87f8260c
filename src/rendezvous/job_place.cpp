#include "rendezvous/job_place.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMostProcesses = 4096;  // that one process can talk to
constexpr std::uint16_t kUsualPort = 29500;    // torchrun's own

// The names of one launcher.
struct Launcher {
  const char* number;
  const char* processes;
  const char* address;  // where MASTER_ADDR is not set; "": there is none
  const char* job;
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "", "TORCHELASTIC_RUN_ID"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "", "PMIX_NAMESPACE"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LAUNCH_NODE_IPADDR", "SLURM_JOB_ID"},
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
  throw UsageError(fmt::format("--rendezvous env: {} is '{}'; expected a number from {} to {}, as "
                               "torchrun, srun or mpirun sets it",
                               name, shown_text(text), least, most));
}

}  // namespace

JobPlace place_in_job(const Variable& variable) {
  for (const Launcher& launcher : kLaunchers) {
    if (text_of(variable, launcher.number).empty()) continue;
    JobPlace place;
    place.processes = number_of(variable, launcher.processes, 1, kMostProcesses);
    place.number = number_of(variable, launcher.number, 0, place.processes - 1);
    place.address = text_of(variable, "MASTER_ADDR");
    if (place.address.empty()) place.address = text_of(variable, launcher.address);
    if (place.address.empty() && place.processes > 1)
      throw UsageError(
          "--rendezvous env: MASTER_ADDR is not set; set it to the address of the host of process "
          "0, on all hosts");
    place.port = text_of(variable, "MASTER_PORT").empty()
                     ? kUsualPort
                     : static_cast<std::uint16_t>(number_of(variable, "MASTER_PORT", 1, 65535));
    place.job = text_of(variable, launcher.job);
    return place;
  }
  throw UsageError(
      "--rendezvous env: none of RANK, OMPI_COMM_WORLD_RANK and SLURM_PROCID is set; start it "
      "with torchrun, mpirun or srun, or set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT");
}

}  // namespace loaderscope
