#include "machine/container.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/printable.h"
#include "machine/proc_file.h"

namespace loaderscope {
namespace {

constexpr std::size_t kIdDigits = 64, kStaticUidDigits = 32, kUidSize = 36;

bool is_hex(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
}

bool all_hex(std::string_view text) { return std::all_of(text.begin(), text.end(), is_hex); }

// Returns 8-4-4-4-12 hexadecimal digits at the begin of `text`, with "-" or "_" between them and
// with "-" in the result; "" for another text.
std::string uid_at_begin(std::string_view text) {
  if (text.size() < kUidSize) return "";
  std::string uid(text.substr(0, kUidSize));
  for (std::size_t i = 0; i < kUidSize; ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash ? uid[i] != '-' && uid[i] != '_' : !is_hex(uid[i])) return "";
    if (is_dash) uid[i] = '-';
  }
  return uid;
}

// "pod0a1b..." at the begin of a folder, or after the last "-" before it: kubepods-burstable-pod...
std::string pod_uid(std::string_view folder) {
  constexpr std::string_view kPod = "pod";
  for (std::size_t at = folder.find(kPod); at != folder.npos; at = folder.find(kPod, at + 1)) {
    if (at != 0 && folder[at - 1] != '-') continue;
    const std::string_view rest = folder.substr(at + kPod.size());
    if (std::string uid = uid_at_begin(rest); !uid.empty()) return uid;
    const std::string_view digits = rest.substr(0, rest.find('.'));
    if (digits.size() == kStaticUidDigits && all_hex(digits)) return std::string(digits);
  }
  return "";
}

// The last 64 digits of "ID", "docker-ID.scope" and "kubepods-pod....slice:cri-containerd:ID".
std::string container_id(std::string_view folder) {
  constexpr std::string_view kScope = ".scope";
  if (folder.ends_with(kScope)) folder.remove_suffix(kScope.size());
  if (folder.size() < kIdDigits) return "";
  const std::size_t at = folder.size() - kIdDigits;
  const bool is_whole = at == 0 || folder[at - 1] == '-' || folder[at - 1] == ':';
  return is_whole && all_hex(folder.substr(at)) ? std::string(folder.substr(at)) : "";
}

// "job_123" of Slurm.
std::string slurm_job(std::string_view folder) {
  constexpr std::string_view kJob = "job_";
  if (!folder.starts_with(kJob) || folder.size() == kJob.size()) return "";
  const std::string_view number = folder.substr(kJob.size());
  const bool is_number = std::all_of(number.begin(), number.end(),
                                     [](char letter) { return letter >= '0' && letter <= '9'; });
  return is_number ? std::string(number) : "";
}

void keep(std::string& place, std::string found) {
  if (!found.empty()) place = std::move(found);
}

std::map<std::string, std::string, std::less<>> read_environment(const std::filesystem::path& root,
                                                                 pid_t process) {
  std::map<std::string, std::string, std::less<>> all;
  const std::string text =
      read_text((root / "proc" / std::to_string(process) / "environ").string());
  for (const std::string_view entry : split(text, '\0')) {
    const std::size_t equals = entry.find('=');
    if (equals != entry.npos)
      all.try_emplace(std::string(entry.substr(0, equals)), entry.substr(equals + 1));
  }
  return all;
}

}  // namespace

// The deepest folder counts: a container may run in the container of a node.
ContainerPath parse_container_path(std::string_view cgroup) {
  ContainerPath found;
  for (const std::string_view line : split(cgroup, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    for (const std::string_view folder : split(line.substr(second + 1), '/')) {
      keep(found.pod_uid, pod_uid(folder));
      keep(found.container_id, container_id(folder));
      keep(found.slurm_job, slurm_job(folder));
    }
  }
  return found;
}

JobIdentity read_job_identity(const std::filesystem::path& root, pid_t process) {
  JobIdentity identity;
  identity.path = parse_container_path(
      read_text((root / "proc" / std::to_string(process) / "cgroup").string()));
  const auto environment = read_environment(root, process);
  const auto variable = [&](std::string_view name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  identity.job_name = variable("JOB_NAME");
  if (identity.path.slurm_job.empty()) identity.path.slurm_job = variable("SLURM_JOB_ID");
  if (identity.path.pod_uid.empty()) return identity;
  identity.space = variable("POD_NAMESPACE");
  identity.pod = variable("POD_NAME");
  if (identity.pod.empty()) identity.pod = variable("HOSTNAME");
  return identity;
}

}  // namespace loaderscope
