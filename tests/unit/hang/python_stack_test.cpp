// Python stacks of threads: the dumps of faulthandler, and the processes that are asked for one.
#include "hang/python_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/fd.h"
#include "guest/host/hang_watch.h"

namespace loaderscope::hang {
namespace {

constexpr const char* kDump =
    "Thread 0x00007f01 (most recent call first):\n"
    "  File \"/usr/lib/python3.11/threading.py\", line 320 in wait\n"
    "\n"
    "Current thread 0x00007f02 [python] (most recent call first):\n"
    "  File \"/usr/lib/python3.11/socket.py\", line 706 in readinto\n"
    "  File \"/tmp/x/loaderscope_guest/files.py\", line 30 in read\n"
    "  File \"/data/my, set.py\", line 34 in __getitem__\n"
    "  File \"<frozen runpy>\", line 3 in run\n"
    "  ...\n"
    "Extension modules: torch._C (total: 1)\n";

TEST(PythonStack, PutsAskedThreadFirstWithoutOurFrames) {
  const auto threads = parse_dump(kDump);
  ASSERT_EQ(threads.size(), 2U);
  ASSERT_EQ(threads[0].frames.size(), 3U);
  EXPECT_EQ(threads[0].frames[0].function, "readinto");
  ASSERT_NE(threads[0].own(), nullptr);
  EXPECT_EQ(spelled_place(*threads[0].own()), "/data/my, set.py:34 in __getitem__");
  EXPECT_EQ(threads[1].own(), nullptr);
  EXPECT_TRUE(threads[1].is_within("wait"));
}

TEST(PythonStack, IgnoresTextThatIsNoDump) {
  EXPECT_TRUE(parse_dump("").empty());
  EXPECT_TRUE(parse_dump("  File \"x.py\", line 3 in f\n").empty());
  for (const char* cut : {"Thread 0x1\n  File \"", "Thread 0x1\n  File \"a\", line ",
                          "Thread 0x1\n  File \"a\", line 99999999999999999999 in "}) {
    for (const PythonThread& thread : parse_dump(cut)) EXPECT_LE(thread.frames.size(), 1U) << cut;
  }
}

Fd offered_memory(guest::StacksMessage& offer) {
  Fd memory(::memfd_create("stacks", MFD_CLOEXEC));
  struct stat status {};
  EXPECT_EQ(::fstat(memory, &status), 0);
  offer = {SIGRTMAX - 4, memory, static_cast<std::int64_t>(status.st_ino)};
  return memory;
}

int written_to = -1;

void write_dump(int) {
  const std::string_view text = kDump;
  if (::write(written_to, text.data(), text.size()) < 0) std::abort();
}

TEST(StackRequest, ReadsOnlyWhatIsWrittenAfterwards) {
  guest::StacksMessage offer;
  const Fd memory = offered_memory(offer);
  ASSERT_GT(::write(memory, "Thread 0x1:\n", 12), 0);
  written_to = memory;
  ASSERT_NE(std::signal(offer.signal, write_dump), SIG_ERR);
  guest::StackRequest request;
  request.ask(::getpid(), offer);
  EXPECT_EQ(request.read_answer(::getpid()).size(), 2U);
  std::signal(offer.signal, SIG_DFL);
}

// The signal would end it.
TEST(StackRequest, SendsNoSignalToProcessWithoutHandler) {
  guest::StacksMessage offer;
  const Fd memory = offered_memory(offer);
  EXPECT_FALSE(guest::takes_signal(::getpid(), offer.signal));
  guest::StackRequest request;
  request.ask(::getpid(), offer);
  EXPECT_TRUE(request.read_answer(::getpid()).empty());
}

// The process would write into another file that has this number now.
TEST(StackRequest, AsksNoProcessThatClosedItsMemory) {
  guest::StacksMessage offer;
  const Fd memory = offered_memory(offer);
  ++offer.inode;
  written_to = memory;
  ASSERT_NE(std::signal(offer.signal, write_dump), SIG_ERR);
  guest::StackRequest request;
  request.ask(::getpid(), offer);
  EXPECT_EQ(::lseek(memory, 0, SEEK_END), 0);
  std::signal(offer.signal, SIG_DFL);
}

}  // namespace
}  // namespace loaderscope::hang
