#include "guest/protocol/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <vector>

namespace loaderscope::guest {
namespace {

// A connected line, and what a stranger may send on it.
class LineOfDescriptors : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    here_ = Fd(ends[0]);
    there_ = Fd(ends[1]);
  }

  void send(const std::vector<int>& descriptors) {
    char text[] = "hello";
    iovec part{text, 5};
    std::vector<char> control(CMSG_SPACE(descriptors.size() * sizeof(int)));
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
    ASSERT_EQ(::sendmsg(there_, &header, 0), 5);
  }

  Received receive() { return receive_with_descriptor(here_, text_); }

  static std::ptrdiff_t open_files() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  }

  Fd here_, there_;
  std::array<char, 16> text_{};
};

TEST_F(LineOfDescriptors, DeliversOneDescriptor) {
  ASSERT_EQ(send_with_descriptor(there_, "hi", here_), 0);
  const Received received = receive();
  EXPECT_EQ(received.length, 2);
  EXPECT_GE(received.descriptor, 0);
}

TEST_F(LineOfDescriptors, ClosesSeveralDescriptorsOfOneMessage) {
  const std::ptrdiff_t before = open_files();
  for (const std::size_t count : {2U, 3U, 8U}) {
    send(std::vector<int>(count, here_));
    EXPECT_EQ(receive().length, 5);
    EXPECT_EQ(open_files(), before) << count;
  }
}

TEST_F(LineOfDescriptors, ReportsMissingDescriptor) {
  ASSERT_EQ(::send(there_, "hi", 2, 0), 2);
  EXPECT_LT(receive().descriptor, 0);
}

}  // namespace
}  // namespace loaderscope::guest
