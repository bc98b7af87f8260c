#include "machine/proc_file.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

void burn(Nanos time) {
  const Nanos until = thread_cpu_now() + time;
  while (thread_cpu_now() < until) {
  }
}

TEST(ProcessStat, SeparatesEndedChildrenFromProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NAME, ") R 1 (\n9");  // a name may hold anything
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
      burn(200 * kMillisecond);
      ::_exit(0);
    }
    ::waitpid(grandchild, nullptr, 0);
    ::_exit(0);
  }
  const std::string folder = "/proc/" + std::to_string(child);
  std::optional<ProcessStat> stat = read_process_stat(folder);
  for (; stat && !stat->has_ended(); stat = read_process_stat(folder))
    sleep_until(monotonic_now() + kMillisecond);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'Z');
  EXPECT_GT(stat->children.cpu_s(), 0.15);
  EXPECT_LT(stat->own.cpu_s(), stat->children.cpu_s());
  EXPECT_GT(stat->children.minor_faults, 0);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(read_process_stat(folder));
}

TEST(ProcessId, DistinguishesProcessesWithSameNumber) {
  const ProcessId own = process_id(::getpid());
  EXPECT_GT(own.started, 0);
  EXPECT_TRUE(is_running(own));
  EXPECT_TRUE(is_running(ProcessId(own.pid)));
  EXPECT_FALSE(is_running(ProcessId(own.pid, own.started - 1)));
  EXPECT_FALSE(is_running(ProcessId(1 << 23)));
}

TEST(ProcFile, GivesEachKeyItsOwnNumber) {
  const source::TempFolder folder;
  const std::string file =
      folder.write("status", "Pss_Dirty:\t 7 kB\nPss:\t 5 kB\nquota 3\nnone: x\n");
  const auto values = read_values(file, {"quota", "Pss", "none", "absent", "Pss_Dirty"});
  ASSERT_EQ(values.size(), 5U);
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(values[1], 5);
  EXPECT_FALSE(values[2]);
  EXPECT_FALSE(values[3]);
  EXPECT_EQ(values[4], 7);
  EXPECT_FALSE(read_value(folder / "gone", "quota"));
}

}  // namespace
}  // namespace loaderscope
