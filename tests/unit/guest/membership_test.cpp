// What a process sees of the host: the other end of what host_test.cpp has.
#include "guest/library/membership.h"

#include <gtest/gtest.h>

#include <thread>

#include "guest/host/host.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::guest {
namespace {

class MembershipTest : public testing::Test {
 protected:
  void join() {
    std::thread joins(
        [this] { error_ = member_.join(path_.c_str(), R"({"role": "trainer", "pid": 12})"); });
    while (host_.members().empty() || host_.members().front()->page() == nullptr)
      host_.look([](Member&, const std::string&) {});
    joins.join();
    ASSERT_EQ(error_, 0);
  }
  Page& page() { return *host_.members().front()->page(); }

  source::TempFolder folder_;
  std::string path_ = folder_ / "host";
  Host host_{path_};
  Membership member_;
  int error_ = -1;
};

// A program may write over the page by mistake.
TEST_F(MembershipTest, OnlyTheHostsOwnWordEndsTheProgram) {
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

TEST_F(MembershipTest, StagesAreTimedUnlessTheHostSaysOtherwise) {
  EXPECT_TRUE(member_.timing_wanted());
  join();
  EXPECT_TRUE(member_.timing_wanted());
  host_.time_stages(false);
  EXPECT_FALSE(member_.timing_wanted());
}

}  // namespace
}  // namespace loaderscope::guest
