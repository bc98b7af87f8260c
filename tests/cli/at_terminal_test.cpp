// A program that asks at its terminal, as getpass, wandb and ssh do, and the keys of that terminal.
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kAsks = R"(
import getpass
print("got", getpass.getpass("secret: ")[::-1], flush=True)
)";

// Ends by itself after the first Ctrl-C, with how often it was interrupted.
constexpr const char* kCounts = R"(
import signal, time
interrupts = []
signal.signal(signal.SIGINT, lambda *of_signal: interrupts.append(1))
print("ready", flush=True)
while not interrupts: time.sleep(0.01)
end = time.monotonic() + 1
while time.monotonic() < end: time.sleep(0.01)
print("interrupts:", len(interrupts), flush=True)
)";

class AtTerminal : public testing::Test {
 protected:
  void SetUp() override {
    if (run_program("/bin/sh", {"-c", "command -v python3"}).exit_code != 0)
      GTEST_SKIP() << "no python3";
  }
  // `steps` of tests/tools/at_terminal.py, on `loaderscope COMMAND -- python3 PROGRAM`.
  Ended at_terminal(const Words& steps, const char* program, const Words& command = {"run"}) {
    Words words = {"python3", LOADERSCOPE_SOURCE_DIR "/tests/tools/at_terminal.py"};
    words.insert(words.end(), steps.begin(), steps.end());
    words.insert(words.end(), {"--", binary()});
    words.insert(words.end(), command.begin(), command.end());
    words.insert(words.end(), {"--", "python3", folder_.write("ask.py", program)});
    return run_program("/usr/bin/env", words);
  }

  TestFolder folder_;
};

TEST_F(AtTerminal, LetsTheProgramAsk) {
  const Ended ended = at_terminal({"expect=secret: ", R"(type=abc\n)", "expect=got cba"}, kAsks);
  EXPECT_THAT(ended.out, HasSubstr("ended without taking a batch")) << ended.err;
}

TEST_F(AtTerminal, LetsAWatchedProgramAsk) {
  const Ended ended =
      at_terminal({"expect=secret: ", R"(type=abc\n)", "expect=got cba"}, kAsks, {"watch"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out;
}

// And a run that `compare` starts, within two of our programs.
TEST_F(AtTerminal, LetsTheProgramOfAComparisonAsk) {
  const Ended ended = at_terminal({"expect=secret: ", R"(type=abc\n)"}, kAsks,
                                  {"compare", "--no-progress", "--b=--num-workers 2"});
  EXPECT_THAT(ended.out, HasSubstr("ended without taking a batch"));
}

TEST_F(AtTerminal, StopsAndContinuesWithTheProgram) {
  const Ended ended = at_terminal(
      {"expect=secret: ", "type=^Z", "stops", "fg", R"(type=abc\n)", "expect=got cba"}, kAsks);
  EXPECT_THAT(ended.out, Not(HasSubstr("not reached")));
}

// The job stops in the background, as the shell says. Then fg lets it ask.
TEST_F(AtTerminal, StopsInTheBackgroundWhenTheProgramAsks) {
  const Ended ended = at_terminal(
      {"&", "stops", "fg", "expect=secret: ", R"(type=abc\n)", "expect=got cba"}, kAsks);
  EXPECT_THAT(ended.out, Not(HasSubstr("not reached")));
}

TEST_F(AtTerminal, EndsByCtrlCWhileTheProgramAsks) {
  const Ended ended = at_terminal({"expect=secret: ", "type=^C"}, kAsks);
  EXPECT_THAT(ended.out, HasSubstr("KeyboardInterrupt"));
  EXPECT_THAT(ended.out, Not(HasSubstr("SIGTERM")));
  EXPECT_THAT(ended.out, Not(HasSubstr("not reached")));
}

// The terminal has sent the signal to all of the job.
TEST_F(AtTerminal, SendsTheProgramOneSignalForOneCtrlC) {
  const Ended ended = at_terminal({"expect=ready", "type=^C"}, kCounts);
  EXPECT_THAT(ended.out, HasSubstr("interrupts: 1"));
}

// A stopped program does not handle its signal.
TEST_F(AtTerminal, EndsAProgramThatIsStopped) {
  constexpr const char* kStops = R"(
import os, signal
print("stops", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
print("continues", flush=True)
)";
  RunningBinary running({"run", "--", "python3", folder_.write("stop.py", kStops)});
  while (running.err().find("stops") == std::string::npos && !running.has_ended()) ::usleep(10'000);
  running.wait_until_it_catches(SIGINT);
  running.send(SIGINT);
  const Ended ended = running.wait();
  EXPECT_THAT(ended.err, Not(HasSubstr("SIGKILL")));
  EXPECT_THAT(ended.err, Not(HasSubstr("continues")));
}

// A program without a terminal gets a process group of its own.
TEST_F(AtTerminal, OutlivesAProgramThatEndsItsWholeGroup) {
  const Ended ended =
      run_program("/usr/bin/env", {"setsid", "--wait", binary(), "run", "--", "python3", "-c",
                                   "import os, signal; os.killpg(0, signal.SIGKILL)"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("was killed by signal 9 (SIGKILL)"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
