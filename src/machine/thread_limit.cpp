#include "machine/thread_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "machine/cgroup.h"
#include "machine/proc_file.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;

// Root is not held to it.
std::int64_t limit_of_user() {
  rlimit limit{};
  if (::geteuid() == 0 || ::getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur >= kUnlimited)
    return kUnlimited;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

std::int64_t limit_in(const std::filesystem::path& file) {
  const std::string text = text_of(file.string());
  const std::int64_t number = NumbersIn(text).next().value_or(0);
  return number > 0 ? number : kUnlimited;
}

}  // namespace

std::optional<ThreadLimit> thread_limit(const std::filesystem::path& root) {
  const ThreadLimit limits[] = {
      {limit_of_user(), "ulimit -u"},
      {cgroup_threads_left(root).value_or(kUnlimited), "pids.max of the cgroup"},
      {limit_in(root / "proc/sys/kernel/threads-max"), "sysctl kernel.threads-max"},
      {limit_in(root / "proc/sys/kernel/pid_max"), "sysctl kernel.pid_max"},
  };
  const auto* least = std::min_element(
      std::begin(limits), std::end(limits),
      [](const ThreadLimit& a, const ThreadLimit& b) { return a.threads < b.threads; });
  if (least->threads >= kUnlimited) return std::nullopt;
  return *least;
}

}  // namespace loaderscope
