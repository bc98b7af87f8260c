// The process's end of its connection to the host. guest_server_test.cpp tests the other end.
#include "guest/library/membership.h"

#include <gtest/gtest.h>

#include "guest/host/guest_server.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::guest {
namespace {

class MembershipTest : public testing::Test {
 protected:
  void join() {
    ASSERT_EQ(member_.join(path_.c_str(), R"({"role": "trainer", "pid": 12})"), 0);
    host_.look([](GuestProcess&, const std::string&) {});
    ASSERT_FALSE(host_.members().empty());
    ASSERT_NE(host_.members().front()->page(), nullptr);
  }
  Page& page() { return *host_.members().front()->page(); }

  source::TempFolder folder_;
  std::string path_ = folder_ / "host";
  GuestServer host_{path_};
  Membership member_;
};

// One that is stopped takes nothing in. The test would not end.
TEST_F(MembershipTest, WaitsForNoHost) {
  EXPECT_EQ(member_.join(path_.c_str(), R"({"role": "trainer", "pid": 12})"), 0);
  ASSERT_NE(member_.rings(), nullptr);
  const std::string message(100'000, 'x');
  for (int i = 0; i < 60; ++i) member_.say(message.c_str());
  EXPECT_FALSE(member_.must_stop());
}

TEST_F(MembershipTest, SendsLaterWhatAHostDidNotTakeIn) {
  join();
  constexpr int kMessages = 30;
  const std::string message(100'000, 'x');
  for (int i = 0; i < kMessages; ++i) member_.say(message.c_str());
  std::size_t messages = 0, bytes = 0;
  const auto take = [&](GuestProcess&, const std::string& text) {
    ++messages;
    bytes += text.size();
  };
  for (int i = 0; i < kMessages; ++i) {
    host_.look(take);
    member_.say("y");
  }
  host_.look(take);
  EXPECT_EQ(messages, 2U * kMessages);
  EXPECT_EQ(bytes, kMessages * (message.size() + 1));
}

TEST_F(MembershipTest, GivesUpAHostThatTakesInNothing) {
  join();
  const std::string message(100'000, 'x');
  for (int i = 0; i < 60; ++i) member_.say(message.c_str());
  host_.look([](GuestProcess&, const std::string&) {});
  EXPECT_FALSE(host_.members().front()->has_line());
}

// A program may write over the page by mistake.
TEST_F(MembershipTest, StopsOnlyIfHostAsks) {
  EXPECT_FALSE(member_.must_stop());
  join();
  EXPECT_FALSE(member_.must_stop());
  page().stop.store(0xFFFFFFFF);
  EXPECT_FALSE(member_.must_stop());
  host_.ask_to_stop();
  EXPECT_TRUE(member_.must_stop());
  member_.leave();
  EXPECT_FALSE(member_.must_stop());
}

TEST_F(MembershipTest, TimesStagesUnlessHostDisablesTiming) {
  EXPECT_TRUE(member_.timing_wanted());
  join();
  EXPECT_TRUE(member_.timing_wanted());
  host_.time_stages(false);
  EXPECT_FALSE(member_.timing_wanted());
}

}  // namespace
}  // namespace loaderscope::guest
