// Overhead of timing, measured with programs whose step rate is known.
#include "guest/host/hook_cost.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/protocol/descriptor.h"

namespace loaderscope::guest {
namespace {

using testing::HasSubstr;

// A program that takes 20 ms per step, and `more` if its stages are timed. A change of the timing
// reaches it `ahead` steps later.
struct Program {
  Nanos now = 0, more = 0;
  std::int64_t taken = 0;
  std::vector<bool> timed;

  explicit Program(std::size_t ahead) : timed(ahead, true) {}

  void step(bool timing) {
    timed.push_back(timing);
    now += 20 * kMillisecond + (timed[static_cast<std::size_t>(taken)] ? more : 0);
    ++taken;
  }
};

TEST(HookCost, MeasuresLostShareOfStepRate) {
  for (const std::int64_t ahead : {0, 1, 16}) {
    Program program(static_cast<std::size_t>(ahead));
    program.more = 5 * kMillisecond;
    HookCost cost(0, 0, 4 * kSecond, ahead);
    EXPECT_FALSE(cost.share());
    for (int i = 0; i < 1000 && !cost.over(); ++i) {
      program.step(cost.timing());
      cost.look(program.now, program.taken);
    }
    ASSERT_TRUE(cost.share()) << ahead;
    EXPECT_NEAR(cost.share()->median, 0.2, 1e-9) << ahead;
    EXPECT_NEAR(cost.share()->low, cost.share()->high, 1e-9) << ahead;
  }
}

class HookSeriesTest : public testing::Test {
 protected:
  HookCostSchedule::Seen seen() const {
    return {program_.now, program_.taken, program_.taken, program_.now, 2};
  }
  void run_for(Nanos length) {
    for (const Nanos until = program_.now + length; program_.now < until;) {
      program_.step(series_.timing());
      if (!series_.timing()) ++untimed_;
      series_.meanwhile(seen());
    }
  }
  std::string said() const {
    RunRecord record;
    series_.say(record);
    return record.notes.at(0);
  }

  Program program_{2};
  HookCostSchedule series_{""};
  std::int64_t untimed_ = 0;
};

TEST_F(HookSeriesTest, SkipsShortJobs) {
  run_for(19 * kSecond);
  EXPECT_EQ(untimed_, 0);
  EXPECT_EQ(said(),
            "what timing the stages costs was not measured: the job is too short, 20.00 s of "
            "steps are needed");
}

TEST_F(HookSeriesTest, AlternatesTimingInLongJobs) {
  program_.more = 5 * kMillisecond;
  run_for(400 * kSecond);
  EXPECT_THAT(said(), HasSubstr("timing the stages costs 20.0 % of the step rate"));
  EXPECT_THAT(said(), HasSubstr("what was not timed is opaque"));
  EXPECT_GT(untimed_, 0);
  EXPECT_LT(untimed_, program_.taken / 20);
}

TEST_F(HookSeriesTest, MeasuresOnceAfterWindow) {
  int steps = 0;
  for (; steps < 1000 && !series_.look_after_window(seen()); ++steps)
    program_.step(series_.timing());
  EXPECT_LT(steps, 1000);
  EXPECT_THAT(
      said(),
      HasSubstr("timing the stages costs nothing measurable (alternately on and off for 2.000 s: "
                "0.0 to 0.0 % of the step rate)"));
  EXPECT_TRUE(series_.timing());
}

// A machine that others use: timing seems to cost at first, and to help later.
TEST_F(HookSeriesTest, ReportsUnknownCostIfTurnsDisagree) {
  for (int steps = 0; steps < 1000 && !series_.look_after_window(seen()); ++steps) {
    program_.more = (steps < 60 ? 15 : -10) * kMillisecond;
    program_.step(series_.timing());
  }
  EXPECT_THAT(said(), HasSubstr("what timing the stages costs is not known"));
  RunRecord record;
  series_.say(record);
  EXPECT_TRUE(record.metrics.empty());
}

// Four pairs of turns that differ by chance may all seem to have a cost.
TEST(HookCost, RejectsShareIfPairsDisagree) {
  EXPECT_TRUE((HookCost::Share{0.09, 0.08, 0.11}).is_known());
  EXPECT_TRUE((HookCost::Share{0.01, -0.02, 0.02}).is_known());
  EXPECT_TRUE((HookCost::Share{0.3, 0.25, 0.4}).is_known());
  EXPECT_FALSE((HookCost::Share{0.32, 0.02, 0.47}).is_known());
  EXPECT_FALSE((HookCost::Share{0.05, -0.05, 0.06}).is_known());
}

// Two workers give their batches at once, some more or less late: a turn has as many of each, and
// as many as are made ahead.
TEST_F(HookSeriesTest, TakesEquallyManyStepsOfEachWorkerPerTurn) {
  HookCostSchedule::Seen seen;
  seen.window = 5 * kSecond;
  seen.taken = seen.steps = 40;
  seen.ahead = 4;
  seen.clock = seen.window;
  for (bool is_second = false; !series_.look_after_window(seen); is_second = !is_second) {
    ++seen.taken;
    seen.clock += is_second ? 5 * kMillisecond : (240 + seen.taken % 3) * kMillisecond;
  }
  EXPECT_EQ((seen.taken - seen.steps) % (8 * 4), 0);
  EXPECT_THAT(said(), testing::StartsWith("timing the stages costs"));
}

// A page that says that our own code has taken `share` of the time so far.
class OwnCostTest : public HookSeriesTest {
 protected:
  OwnCostTest() {
    for (GuestProcess* member : {&trainer_, &worker_}) {
      EXPECT_TRUE(member->listen());  // a hello, which brings the memory of the page
      EXPECT_TRUE(member->take_page());
    }
    worker_.is_worker = true;
  }
  void run(double trainer_share, double worker_share) {
    for (Nanos at = kSecond; at <= 10 * kSecond; at += kSecond) {
      if (at == 3 * kSecond) own_.begin();
      trainer_.page()->own += static_cast<Nanos>(trainer_share * kSecond);
      worker_.page()->own += static_cast<Nanos>(worker_share * kSecond);
      own_.look(trainer_, at, true);
      own_.look(worker_, at, at <= 8 * kSecond);
    }
  }

  GuestProcess trainer_{made_line()}, worker_{made_line()};
  OwnCost own_;

 private:
  // The host's end of a line. The process has sent its hello.
  static int made_line() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    const Fd process(ends[1]);
    const Fd memory = made_memory();
    EXPECT_EQ(send_with_descriptor(process, "hello", memory), 0);
    return ends[0];
  }
  static Fd made_memory() {
    Fd memory(::memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(::ftruncate(memory, static_cast<off_t>(Page::bytes())), 0);
    void* place = ::mmap(nullptr, Page::bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    EXPECT_NE(place, MAP_FAILED);
    Page::make(place);
    ::munmap(place, Page::bytes());
    EXPECT_EQ(::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    return memory;
  }
};

TEST_F(OwnCostTest, CountsWindowOnly) {
  run(0.01, 0.02);
  ASSERT_TRUE(own_.trainer_cost_share() && own_.worker_cost_share());
  EXPECT_NEAR(*own_.trainer_cost_share(), 0.01, 1e-9);
  EXPECT_NEAR(*own_.worker_cost_share(), 0.02, 1e-9);
  RunRecord record;
  series_.say(record, own_);
  EXPECT_THAT(record.notes.at(0), testing::EndsWith("in addition, our own code takes 1.0 % of the "
                                                    "trainer's time and 2.0 % of a worker's"));
}

TEST_F(OwnCostTest, LimitsShareToElapsedTime) {
  run(1e9, 0);
  EXPECT_NEAR(*own_.trainer_cost_share(), 1, 1e-9);
}

TEST_F(OwnCostTest, LeadsIfLargeAndTurnsDisagree) {
  for (int steps = 0; steps < 1000 && !series_.look_after_window(seen()); ++steps) {
    program_.more = (steps < 60 ? 15 : -10) * kMillisecond;
    program_.step(series_.timing());
  }
  run(0.4, 0);
  RunRecord record;
  series_.say(record, own_);
  EXPECT_THAT(record.notes.at(0),
              testing::StartsWith("loaderscope slows this program down: our own code takes 40.0 % "
                                  "of the trainer's time"));
  EXPECT_THAT(record.notes.at(0), testing::Not(HasSubstr("is not known")));
}

TEST_F(HookSeriesTest, SkipsMeasurementIfStepsTakeTooLong) {
  HookCostSchedule::Seen slow;
  slow.window = 100 * kSecond;
  slow.steps = slow.taken = 10;
  slow.ahead = 16;
  EXPECT_TRUE(series_.look_after_window(slow));
  EXPECT_THAT(said(), HasSubstr("not measured: its steps take too long for turns"));
}

TEST_F(HookSeriesTest, SkipsMeasurementWithInjectedDelays) {
  series_ = HookCostSchedule("delays are injected");
  EXPECT_TRUE(series_.look_after_window(seen()));
  run_for(100 * kSecond);
  EXPECT_EQ(untimed_, 0);
  EXPECT_EQ(said(), "what timing the stages costs was not measured: delays are injected");
}

}  // namespace
}  // namespace loaderscope::guest
