// System calls in which processes wait: children that wait for ever in one call each.
#include "machine/system_call.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/fd.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

class Waiting {
 public:
  explicit Waiting(const std::function<void()>& wait) : pid_(::fork()) {
    if (pid_ != 0) return;
    wait();
    ::_exit(0);
  }
  ~Waiting() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  // Waits for at most 5 s until the process is in the call `name`. Returns its latest call.
  SystemCall call(std::string_view name) const {
    SystemCall call;
    const Nanos until = monotonic_now() + 5 * kSecond;
    while (call.name != name && monotonic_now() < until) {
      sleep_until(monotonic_now() + kMillisecond);
      call = read_system_call(pid_);
    }
    return call;
  }

 private:
  pid_t pid_;
};

class SystemCallTest : public testing::Test {
 protected:
  void SetUp() override {
    if (Waiting([] { ::sleep(60); }).call("nanosleep").name.empty())
      GTEST_SKIP() << "/proc/PID/syscall cannot be read here";
  }

  source::TempFolder folder_;
};

TEST_F(SystemCallTest, NamesFileOfRead) {
  const std::string path = folder_ / "photo.jpg";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const Fd file(::open(path.c_str(), O_RDWR));
  const Waiting waiting([&] {
    char byte = 0;
    (void)!::read(file, &byte, 1);
  });
  const SystemCall call = waiting.call("read");
  EXPECT_EQ(call.object, path);
  EXPECT_EQ(call.kind, CallKind::reads);
  EXPECT_FALSE(call.is_socket);
}

TEST_F(SystemCallTest, NamesFileOfOpen) {
  const std::string path = folder_ / "photo.jpg";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const Waiting waiting([&] { ::open(path.c_str(), O_RDONLY); });
  EXPECT_EQ(waiting.call("open").object, path);
}

TEST_F(SystemCallTest, NamesServerOfConnection) {
  const Fd server(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(server, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(server, 1), 0);
  ASSERT_EQ(::getsockname(server, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const Fd line(::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(::connect(line, reinterpret_cast<sockaddr*>(&address), size), 0);
  const std::string name = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const Waiting receives([&] {
    char byte = 0;
    ::recv(line, &byte, 1, 0);
  });
  EXPECT_EQ(receives.call("recv").object, name);
  const Waiting polls([&] {
    pollfd polled{line, POLLIN, 0};
    ::poll(&polled, 1, -1);
  });
  EXPECT_EQ(polls.call("poll").object, name);
  EXPECT_TRUE(polls.call("poll").is_socket);
}

TEST_F(SystemCallTest, SeparatesPrivateFromSharedLocks) {
  const std::string private_wait = std::to_string(SYS_futex) + " 0x7f00 0x189 0x0";
  const std::string shared_wait = std::to_string(SYS_futex) + " 0x7f00 0x109 0x0";
  EXPECT_EQ(read_system_call(::getpid(), private_wait).kind, CallKind::locks);
  EXPECT_EQ(read_system_call(::getpid(), shared_wait).kind, CallKind::locks_shared);
}

TEST_F(SystemCallTest, ReturnsNothingForUnknownCalls) {
  EXPECT_TRUE(read_system_call(-1).name.empty());
  EXPECT_TRUE(read_system_call(::getpid(), "running").name.empty());
  EXPECT_TRUE(read_system_call(::getpid(), "99999 0x0 0x0").name.empty());
  EXPECT_TRUE(open_file(::getpid(), 1 << 20).name.empty());
}

TEST(OpenFile, ReadsPeerFromKernelTable) {
  const source::TempFolder folder;
  folder.write("tcp",
               "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
               "timeout inode\n"
               "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000  "
               "      0 7\n"
               "   1: 0100007F:A2C4 0301000A:01BB 01 00000000:00000000 00:00000000 00000000  1000  "
               "      0 8\n");
  EXPECT_EQ(find_other_side(folder / "tcp", "8", false), "10.0.1.3:443");
  EXPECT_EQ(find_other_side(folder / "tcp", "9", false), "");
  folder.write("tcp6",
               "  sl  local_address  remote_address  st\n"
               "   0: 00000000000000000000000001000000:1F90 "
               "00000000000000000000000001000000:C350 01 00000000:00000000 00:00000000 "
               "00000000  1000        0 8\n");
  EXPECT_EQ(find_other_side(folder / "tcp6", "8", true), "[::1]:50000");
}

}  // namespace
}  // namespace loaderscope
