// The cores of several hosts: the earliest end of all is that of a search through all of them.
#include "engine/model/shared_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "loaderscope/events.h"

namespace loaderscope::model {
namespace {

HostCores make_cores(std::size_t hosts, double each) {
  return HostCores(std::vector<SharedServer>(hosts, SharedServer(each, 1)));
}

TEST(HostCores, SharesCoresOfOneHost) {
  HostCores cores = make_cores(1, 1);
  EXPECT_EQ(cores.next_end(), kNever);
  cores.add(0, 0, 7, 100);
  cores.add(0, 0, 3, 100);  // both at half speed, the smaller number first
  EXPECT_EQ(cores.next_end(), 200);
  EXPECT_EQ(cores.next_who(), 3U);
  cores.end_next(200);
  EXPECT_EQ(cores.next_who(), 7U);
  cores.end_next(200);
  EXPECT_EQ(cores.next_end(), kNever);
}

TEST(HostCores, SeparatesCoresOfHosts) {
  HostCores cores = make_cores(3, 1);
  for (std::size_t host = 0; host < 3; ++host)
    cores.add(host, 0, host, 100 - 10 * static_cast<Nanos>(host));
  for (const Nanos end : {80, 90, 100}) {
    EXPECT_EQ(cores.next_end(), end);
    cores.end_next(end);
  }
}

TEST(HostCores, ReturnsEarliestEndFirst) {
  std::mt19937 random(1);
  for (const std::size_t hosts : {1UL, 2UL, 3UL, 5UL, 8UL, 13UL}) {
    HostCores cores = make_cores(hosts, 2);
    std::vector<SharedServer> plain(hosts, SharedServer(2, 1));
    Nanos now = 0;
    for (std::uint64_t who = 0; who < 500; ++who) {
      const std::size_t host = random() % hosts;
      const Nanos amount = 1 + static_cast<Nanos>(random() % 1000);
      cores.add(host, now, who, amount);
      plain[host].add(now, who, amount);
      if (random() % 3 == 0) continue;
      const auto first =
          std::min_element(plain.begin(), plain.end(), [](const auto& a, const auto& b) {
            if (a.next_end() != b.next_end()) return a.next_end() < b.next_end();
            return !a.idle() && !b.idle() && a.next_who() < b.next_who();
          });
      ASSERT_EQ(cores.next_end(), first->next_end());
      ASSERT_EQ(cores.next_who(), first->next_who());
      now = first->next_end();
      cores.end_next(now);
      first->end_next(now);
    }
  }
}

}  // namespace
}  // namespace loaderscope::model
