// Who joins a job, whatever it says and does to what it is given.
#include "guest/host/host.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/fd.h"
#include "guest/protocol/descriptor.h"
#include "tools/pretend_member.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::guest {
namespace {

constexpr pid_t kNobody = 1 << 30;  // no process has this number
constexpr const char* kHello = R"({"role": "trainer", "rank": -1, "pid": 12})";

class HostTest : public testing::Test {
 protected:
  Fd make_line() const { return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

  void connect(const Fd& line, const std::string& hello) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(::connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_GT(::send(line, hello.data(), hello.size(), MSG_NOSIGNAL), 0);
  }

  void look() {
    host_.look([](Member&, const std::string&) {});
  }

  // What the host answers with; none where it has hung up.
  static Fd answer_on(const Fd& line) { return Fd(std::max(-1, receive_descriptor(line))); }

  source::TempFolder folder_;
  std::string path_ = folder_ / "host";
  Host host_{path_};
};

// It would be a SIGBUS of the host.
TEST_F(HostTest, APageCannotBeCutShort) {
  const Fd line = make_line();
  connect(line, kHello);
  look();
  const Fd page = answer_on(line);
  ASSERT_GE(page, 0);
  EXPECT_NE(::ftruncate(page, 0), 0);
  EXPECT_EQ(errno, EPERM);
}

TEST_F(HostTest, WhoIntroducesItselfAsNobodyIsNotTakenIn) {
  for (const char* hello :
       {"[]", "{", R"({"role": "worker", "pid": 12, "trainer": 11, "worker": -3})",
        R"({"role": "worker", "pid": 12, "trainer": 11, "worker": 99999999})",
        R"({"role": "worker", "pid": 12, "trainer": 11, "iterator": 1e30})",
        R"({"role": "trainer", "pid": -1})", R"({"role": "trainer", "pid": "x"})"}) {
    const Fd line = make_line();
    connect(line, hello);
    look();
    EXPECT_LT(answer_on(line), 0) << hello;
    for (const auto& member : host_.members()) EXPECT_EQ(member->page(), nullptr) << hello;
  }
}

// Its program would wait for an answer.
TEST_F(HostTest, WhoKnocksWhereNoFileCanBeOpenedIsTurnedAway) {
  const Fd line = make_line();
  connect(line, kHello);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(Fd(::open("/dev/null", O_RDONLY)));  // none is free below
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  look();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  char byte = 0;
  errno = 0;
  EXPECT_LE(::recv(line, &byte, 1, MSG_DONTWAIT), 0);
  EXPECT_NE(errno, EAGAIN);
  EXPECT_EQ(host_.turned_away(), 1);
}

// What a process says before it has ended is heard, in order.
TEST_F(HostTest, AProcessIsHeardToItsEndAndLetGo) {
  PretendMember process;
  std::thread joins([&] { EXPECT_TRUE(process.join(path_, trainer_hello(kNobody))); });
  while (host_.members().empty() || host_.members().front()->page() == nullptr) look();
  joins.join();
  for (const char* word : {"one", "two", "three"}) process.say({{"text", word}});
  process.leave();
  std::vector<std::string> heard;
  host_.look([&](Member& member, const std::string& message) {
    EXPECT_EQ(member.pid, kNobody);
    heard.push_back(message);
  });
  EXPECT_THAT(
      heard, testing::ElementsAre(R"({"text":"one"})", R"({"text":"two"})", R"({"text":"three"})"));
  EXPECT_TRUE(host_.members().front()->ended());
  host_.let_go([](const Member&) { return true; });
  EXPECT_TRUE(host_.members().empty());
}

// It is not to keep the host from the others.
TEST_F(HostTest, AProcessThatNeverStopsTalkingIsInterrupted) {
  const Fd line = make_line();
  connect(line, kHello);
  int heard = 0;
  host_.look([&](Member&, const std::string&) {
    ++heard;
    EXPECT_GT(::send(line, "{}", 2, MSG_NOSIGNAL), 0);
  });
  EXPECT_GT(::send(line, "{}", 2, MSG_NOSIGNAL), 0);
  host_.look([&](Member&, const std::string&) {
    ++heard;
    EXPECT_GT(::send(line, "{}", 2, MSG_NOSIGNAL), 0);
  });
  EXPECT_GT(heard, 10);
  EXPECT_LT(heard, 1000);
}

TEST_F(HostTest, ProcessesThatComeLateAreAskedToStopAsOthersAre) {
  host_.ask_to_stop();
  PretendMember process;
  std::thread joins([&] { EXPECT_TRUE(process.join(path_, trainer_hello())); });
  while (host_.members().empty() || host_.members().front()->page() == nullptr) look();
  joins.join();
  EXPECT_TRUE(process.must_stop());
}

TEST_F(HostTest, CountsOfLossesThatAreWrittenOverStayCounts) {
  const Fd line = make_line();
  connect(line, kHello);
  look();
  ASSERT_EQ(host_.members().size(), 1U);
  Member& member = *host_.members().front();
  ASSERT_NE(member.page(), nullptr);
  EXPECT_EQ(host_.lost(), 0);
  std::memset(static_cast<void*>(member.page()), 0x7f, Page::bytes());
  member.distrust();
  EXPECT_GT(host_.lost(), 0);
}

}  // namespace
}  // namespace loaderscope::guest
