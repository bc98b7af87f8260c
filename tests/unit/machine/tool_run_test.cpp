#include "machine/tool_run.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>

#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

ToolRun shell(const std::string& text) { return {.command = {"/bin/sh", "-c", text}}; }

TEST(ToolRun, KeepsWhatAToolSaysAndHowItEnds) {
  const ToolEnd end = run_tool(shell("echo one; echo two >&2; exit 3"));
  EXPECT_EQ(end.output, "one\ntwo\n");
  EXPECT_EQ(end.last_line(), "two");
  EXPECT_EQ(WEXITSTATUS(end.status), 3);
  EXPECT_FALSE(end.is_fine());
  EXPECT_TRUE(run_tool(shell("true")).is_fine());
}

TEST(ToolRun, KeepsEndOfLongOutput) {
  const ToolEnd end = run_tool(shell("head -c 200000 /dev/zero | tr '\\0' x; echo; echo end"));
  EXPECT_EQ(end.output.size(), 64U << 10);
  EXPECT_EQ(end.last_line(), "end");
}

TEST(ToolRun, WorksInItsFolder) {
  ToolRun run = shell("pwd");
  run.folder = "/proc";
  EXPECT_EQ(run_tool(run).output, "/proc\n");
  run.folder = "/nowhere";
  EXPECT_THROW(run_tool(run), RunError);
}

TEST(ToolRun, EndsWithItsChildrenAfterTimeout) {
  ToolRun run = shell("sleep 600 & sleep 600");
  run.patience = 50 * kMillisecond;
  const Nanos begin = monotonic_now();
  const ToolEnd end = run_tool(run);
  EXPECT_TRUE(end.out_of_time);
  EXPECT_FALSE(end.is_fine());
  EXPECT_LT(monotonic_now() - begin, 600 * kSecond);
}

TEST(ToolRun, StopsInTheMiddle) {
  const source::TempFolder folder;
  const std::string ready = folder / "ready";
  ToolRun run =
      shell("trap 'echo bye; exit 5' INT; : >" + ready + "; while :; do sleep 0.01; done");
  run.patience = 60 * kSecond;
  run.stopped = [&ready] { return std::filesystem::exists(ready); };
  const ToolEnd end = run_tool(run);
  EXPECT_FALSE(end.out_of_time);
  EXPECT_EQ(end.last_line(), "bye");
}

// The end of a tool, and of the processes that end with it, does not affect another tool.
TEST(ToolRun, RunsSeveralToolsAtOnce) {
  StartedTool slow(shell("sleep 0.3; exit 4")), quick(shell("sleep 600 & exit 3"));
  const ToolEnd first = quick.wait();
  EXPECT_EQ(WEXITSTATUS(first.status), 3);
  EXPECT_EQ(run_tool(shell("exit 5")).status, 5 << 8);
  const ToolEnd second = slow.wait();
  EXPECT_TRUE(WIFEXITED(second.status));
  EXPECT_EQ(WEXITSTATUS(second.status), 4);
}

TEST(ToolRun, RejectsMissingProgram) {
  EXPECT_THROW(run_tool({.command = {"/nowhere/program"}}), RunError);
}

}  // namespace
}  // namespace loaderscope
