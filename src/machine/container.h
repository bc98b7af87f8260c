// The container and the pod of a process, by the path of its cgroup, and the names that its
// environment has. `root` is "/", or a copy of /proc for tests.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace loaderscope {

// "": unknown.
struct ContainerPath {
  std::string container_id;  // 64 hexadecimal digits
  std::string pod_uid;       // "0a1b2c3d-...", or 32 digits for a static pod
  std::string slurm_job;     // number of the job
};

// Parses the text of /proc/PID/cgroup, of version 1 or 2. It knows the paths of Kubernetes with the
// drivers `systemd` and `cgroupfs`, of containerd, CRI-O, Docker and Podman, and of Slurm.
ContainerPath parse_container_path(std::string_view cgroup);

struct JobIdentity {
  ContainerPath path;
  std::string space, pod;  // namespace and name of the pod
  std::string job_name;    // JOB_NAME of the program's environment
};

// Reads the identity of a process. The names come from POD_NAMESPACE, POD_NAME and JOB_NAME of its
// environment. Without POD_NAME, the pod has the name of HOSTNAME.
JobIdentity read_job_identity(const std::filesystem::path& root, pid_t process);

}  // namespace loaderscope
