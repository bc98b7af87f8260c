// The program that a saved result names, which may be anybody's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"

namespace loaderscope::testing_cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Answers the question of COMMAND on a terminal, and prints what the terminal shows.
constexpr const char* kOnTerminal = R"(
import os, pty, sys
answer, command = sys.argv[1], sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
shown = b""
try:
    while part := os.read(terminal, 65536):
        shown += part
        if part.endswith(b"[y/N] "):
            os.write(terminal, answer.encode() + b"\n")
except OSError:
    pass
sys.stdout.buffer.write(shown.replace(b"\r", b""))
)";

class SavedCommand : public testing::Test {
 protected:
  // A result of a run of the words.
  std::string write_result(const std::vector<std::string>& command) const {
    const std::string path = folder_.path("r.json");
    EXPECT_EQ(run_binary({"run", "--engine", "model", "--compute", "12ms", "--cost", "decode=1ms",
                          "--cores", "8", "--steps", "20", "--json", path})
                  .exit_code,
              0);
    json result = json::parse(folder_.read("r.json"));
    result["config"]["engine"] = "torch";
    result["config"]["command"] = command;
    return folder_.write("r.json", result.dump());
  }
  bool has_run() const { return std::filesystem::exists(folder_.path("ran")); }

  TestFolder folder_;
};

TEST_F(SavedCommand, ShowsWholeCommandBeforeRun) {
  const std::string result =
      write_result({"/bin/sh", "-c", std::string(100, ' ') + "touch " + folder_.path("ran")});
  const Ended ended = run_binary({"tune", "--from", result, "--budget", "1s"});
  EXPECT_THAT(ended.err, StartsWith("loaderscope: " + result + " runs: /bin/sh -c '  "));
  EXPECT_THAT(ended.err, HasSubstr(" touch " + folder_.path("ran") + "'\n"));
}

TEST_F(SavedCommand, RequiresYesOnTerminal) {
  if (run_program("/bin/sh", {"-c", "command -v python3"}).exit_code != 0)
    GTEST_SKIP() << "no python3";
  const std::string result = write_result({"/bin/sh", "-c", "touch " + folder_.path("ran")});
  const Ended ended =
      run_program("/usr/bin/env", {"python3", folder_.write("terminal.py", kOnTerminal), "n",
                                   binary(), "tune", "--from", result, "--budget", "1s"});
  EXPECT_THAT(ended.out, HasSubstr("run it? [y/N] n\n"));
  EXPECT_THAT(ended.out, HasSubstr("r.json: its program was not run"));
  EXPECT_FALSE(has_run());
}

TEST_F(SavedCommand, RefusesCommandWithoutItsPassword) {
  const std::string result = write_result({"train", "--data", "https://me:pw@host/a"});
  const Ended saved =
      run_binary({"report", result, "--format", "json", "--output", folder_.path("again.json")});
  EXPECT_EQ(saved.exit_code, 0) << saved.err;
  EXPECT_THAT(folder_.read("again.json"), Not(HasSubstr("me:pw")));
  const Ended ended = run_binary({"tune", "--from", folder_.path("again.json")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("its command held a password or a signature"));
}

}  // namespace
}  // namespace loaderscope::testing_cli
