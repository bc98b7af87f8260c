// Processes that join a job: invalid hellos, damaged pages and endless messages.
#include "guest/host/guest_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "guest/protocol/descriptor.h"
#include "tools/pretend_member.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::guest {
namespace {

constexpr pid_t kUnusedPid = 1 << 30;  // no process has this number
constexpr const char* kHello = R"({"role": "trainer", "rank": -1, "pid": 12})";

class HostTest : public testing::Test {
 protected:
  Fd make_line() const { return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

  // Joins as a process of this job. The first message carries the memory of a page.
  void connect(const Fd& line, const std::string& hello, int memory) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(::connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(send_with_descriptor(line, hello, memory), 0);
  }
  void connect(const Fd& line, const std::string& hello) const {
    const Fd memory = sealed_memory(Page::bytes(), F_SEAL_SHRINK | F_SEAL_GROW);
    void* place = ::mmap(nullptr, Page::bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    ASSERT_NE(place, MAP_FAILED);
    Page::make(place);
    ::munmap(place, Page::bytes());
    connect(line, hello, memory);
  }
  static Fd sealed_memory(std::size_t bytes, int seals) {
    Fd memory(::memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(::ftruncate(memory, static_cast<off_t>(bytes)), 0);
    EXPECT_EQ(::fcntl(memory, F_ADD_SEALS, seals), 0);
    return memory;
  }

  void look() {
    host_.look([](GuestProcess&, const std::string&) {});
  }

  // True once the host has hung up.
  static bool is_closed(const Fd& line) {
    char byte = 0;
    errno = 0;
    return ::recv(line, &byte, 1, MSG_DONTWAIT) <= 0 && errno != EAGAIN;
  }

  source::TempFolder folder_;
  std::string path_ = folder_ / "host";
  GuestServer host_{path_};
};

// A page that shrinks later would raise SIGBUS in the host.
TEST_F(HostTest, RefusesPagesThatCanBeCutShort) {
  constexpr int kSealed = F_SEAL_SHRINK | F_SEAL_GROW;
  const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Fd open = sealed_memory(Page::bytes(), 0),
           growing = sealed_memory(Page::bytes(), F_SEAL_SHRINK);
  const Fd small = sealed_memory(Page::bytes() - 1, kSealed);
  const Fd unwritten = sealed_memory(Page::bytes(), kSealed);  // has another version
  for (const Fd* memory : {&nothing, &open, &growing, &small, &unwritten}) {
    const Fd line = make_line();
    connect(line, kHello, *memory);
    look();
    EXPECT_TRUE(is_closed(line));
  }
  for (const auto& member : host_.members()) EXPECT_EQ(member->page(), nullptr);
  EXPECT_EQ(host_.turned_away().size(), 5U);
}

TEST_F(HostTest, RejectsInvalidHellos) {
  for (const char* hello :
       {"[]", "{", R"({"role": "worker", "pid": 12, "trainer": 11, "worker": -3})",
        R"({"role": "worker", "pid": 12, "trainer": 11, "worker": 99999999})",
        R"({"role": "worker", "pid": 12, "trainer": 11, "iterator": 1e30})",
        R"({"role": "trainer", "pid": -1})", R"({"role": "trainer", "pid": "x"})"}) {
    const Fd line = make_line();
    connect(line, hello);
    look();
    EXPECT_TRUE(is_closed(line)) << hello;
    for (const auto& member : host_.members()) EXPECT_EQ(member->page(), nullptr) << hello;
  }
}

TEST_F(HostTest, RejectsProcessesWithoutFreeDescriptor) {
  const Fd line = make_line();
  connect(line, kHello);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur =
      static_cast<rlim_t>(Fd(::open("/dev/null", O_RDONLY)));  // no lower number is free
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  look();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(is_closed(line));
  ASSERT_EQ(host_.turned_away().size(), 1U);
  EXPECT_EQ(host_.turned_away().front().process, 12);
  EXPECT_FALSE(host_.turned_away().front().is_worker);
}

// Messages sent before the end of a process arrive in order.
TEST_F(HostTest, ReceivesAllMessagesOfAnEndedProcess) {
  PretendMember process;
  ASSERT_TRUE(process.join(path_, trainer_hello(kUnusedPid)));
  look();
  for (const char* word : {"one", "two", "three"}) process.say({{"text", word}});
  process.leave();
  std::vector<std::string> received;
  host_.look([&](GuestProcess& member, const std::string& message) {
    EXPECT_EQ(member.pid, kUnusedPid);
    received.push_back(message);
  });
  EXPECT_THAT(received, testing::ElementsAre(R"({"text":"one"})", R"({"text":"two"})",
                                             R"({"text":"three"})"));
  EXPECT_TRUE(host_.members().front()->ended());
  host_.release([](const GuestProcess&) { return true; });
  EXPECT_TRUE(host_.members().empty());
}

// One process must not keep the host from serving the others.
TEST_F(HostTest, InterruptsEndlessMessages) {
  const Fd line = make_line();
  connect(line, kHello);
  int received = 0;
  host_.look([&](GuestProcess&, const std::string&) {
    ++received;
    EXPECT_GT(::send(line, "{}", 2, MSG_NOSIGNAL), 0);
  });
  EXPECT_GT(::send(line, "{}", 2, MSG_NOSIGNAL), 0);
  host_.look([&](GuestProcess&, const std::string&) {
    ++received;
    EXPECT_GT(::send(line, "{}", 2, MSG_NOSIGNAL), 0);
  });
  EXPECT_GT(received, 10);
  EXPECT_LT(received, 1000);
}

TEST_F(HostTest, AsksLateProcessesToStop) {
  host_.ask_to_stop();
  PretendMember process;
  ASSERT_TRUE(process.join(path_, trainer_hello()));
  look();
  EXPECT_TRUE(process.must_stop());
}

TEST_F(HostTest, KeepsLossCountPositiveForOverwrittenPages) {
  const Fd line = make_line();
  connect(line, kHello);
  look();
  ASSERT_EQ(host_.members().size(), 1U);
  GuestProcess& member = *host_.members().front();
  ASSERT_NE(member.page(), nullptr);
  EXPECT_EQ(host_.lost(), 0);
  std::memset(static_cast<void*>(member.page()), 0x7f, Page::bytes());
  member.mark_corrupt();
  EXPECT_GT(host_.lost(), 0);
}

}  // namespace
}  // namespace loaderscope::guest
