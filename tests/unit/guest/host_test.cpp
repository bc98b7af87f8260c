// Who joins a job, whatever it says and does to what it is given.
#include "guest/host/host.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "guest/protocol/descriptor.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::guest {
namespace {

using source::Fd;

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
