#include "machine/machine_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

#include "base/sleep.h"
#include "loaderscope/settings.h"
#include "unit/machine/pretend_root.h"

namespace loaderscope {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Field;

auto used(const std::string& name, double share) {
  return AllOf(Field(&Detail::about, "host.other_cpu_s"), Field(&Detail::text, name),
               Field(&Detail::share, DoubleNear(share, 1e-9)));
}

// A machine whose processes used the given CPU time, in ticks.
class Machine {
 public:
  void process(pid_t pid, pid_t parent, const std::string& name, int ticks, int started,
               long flags = 0) const {
    root_.write("proc/" + std::to_string(pid) + "/stat",
                std::to_string(pid) + " (" + name + ") S " + std::to_string(parent) + " 1 1 0 -1 " +
                    std::to_string(flags) + " 0 0 0 0 " + std::to_string(ticks) +
                    " 0 0 0 20 0 1 0 " + std::to_string(started) + " 0 0\n");
  }
  OtherPrograms read() const { return {root_.path(), 100}; }

 private:
  test::PretendRoot root_;
};

// This program is 100: its worker 101 and that one's helper 102 are no other programs. Of 400 ticks
// two compilers took 100 and 200, one that came meanwhile 60, an editor 38 and init 2.
TEST(OtherPrograms, NamesProgramsByTheirCpuTime) {
  const Machine machine;
  machine.process(1, 0, "init", 7, 1);
  machine.process(100, 1, "loaderscope", 1000, 50);
  machine.process(101, 100, "loaderscope", 1000, 51);
  machine.process(102, 101, "helper", 1000, 52);
  machine.process(200, 1, "cc1plus", 500, 60);
  machine.process(201, 1, "cc1plus", 500, 61);
  machine.process(202, 1, "a) S 100 (b", 5000, 62);
  machine.process(203, 1, "gone", 900, 63);
  const OtherPrograms before = machine.read();
  machine.process(1, 0, "init", 9, 1);
  machine.process(100, 1, "loaderscope", 9000, 50);
  machine.process(101, 100, "loaderscope", 9000, 51);
  machine.process(102, 101, "helper", 9000, 52);
  machine.process(200, 1, "cc1plus", 600, 60);
  machine.process(201, 1, "cc1plus", 700, 61);
  machine.process(202, 1, "a) S 100 (b", 5038, 62);
  machine.process(203, 1, "new", 60, 900);  // the number is given again
  EXPECT_THAT(machine.read().since(before),
              ElementsAre(used("cc1plus", 0.75), used("new", 0.15), used("a) S 100 (b", 0.095)));
  EXPECT_THAT(before.since(before), ElementsAre());
}

TEST(OtherPrograms, CombinesThreadsOfKernel) {
  constexpr long kFlags = 0x00208040;  // flags of kdamond in /proc
  const Machine machine;
  for (const auto& [pid, name] : {std::pair(20, "kdamond.0"), std::pair(21, "kworker/0:1")})
    machine.process(pid, 2, name, 0, 3, kFlags);
  machine.process(22, 1, "pip", 0, 3, 0x00400000);
  const OtherPrograms before = machine.read();
  machine.process(20, 2, "kdamond.0", 50, 3, kFlags);
  machine.process(21, 2, "kworker/0:1", 10, 3, kFlags);
  machine.process(22, 1, "pip", 40, 3, 0x00400000);
  EXPECT_THAT(machine.read().since(before), ElementsAre(used("the kernel", 0.6), used("pip", 0.4)));
}

TEST(OtherPrograms, ReadsThisMachine) {
  constexpr pid_t kNoProcess = -1;
  const std::atomic<int> stop{0};
  burn_cpu(50 * kMillisecond, stop);  // the kernel counts in ticks of 10 ms
  const OtherPrograms all("/", kNoProcess), others("/", ::getpid());
  EXPECT_GE(all.since(others).size(), 1U);  // this test has used something
}

}  // namespace
}  // namespace loaderscope
