#include "engine/model/shared_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "loaderscope/cost.h"
#include "loaderscope/events.h"
#include "unit/account/random_pipelines.h"

namespace loaderscope::model {
namespace {

struct Arrival {
  Nanos at;
  std::uint64_t who;
  Nanos amount;
};

struct End {
  Nanos at;
  std::uint64_t who;
  Nanos waited;  // since it began
};

// Hands the works to the server as they arrive and takes them out as they end.
std::vector<End> run(SharedServer& server, const std::vector<Arrival>& arrivals) {
  std::vector<End> ends;
  std::map<std::uint64_t, Nanos> waited;  // server.waited() at the begin of the work
  std::size_t next = 0;
  while (next < arrivals.size() || !server.idle()) {
    const Nanos arrival = next < arrivals.size() ? arrivals[next].at : kNever;
    if (!server.idle() && server.next_end() <= arrival) {
      const Nanos now = server.next_end();
      const std::uint64_t who = server.next_who();
      ends.push_back({now, who, server.waited(now) - waited[who]});
      server.end_next(now);
    } else {
      const Arrival& work = arrivals[next++];
      waited[work.who] = server.waited(work.at);
      server.add(work.at, work.who, work.amount);
    }
  }
  return ends;
}

// The same in real numbers, with every work's own account.
std::vector<End> run_fluid(long double cores, long double scaling,
                           const std::vector<Arrival>& arrivals) {
  struct Work {
    std::uint64_t who;
    long double left, waited;
  };
  std::vector<Work> works;
  std::vector<End> ends;
  long double now = 0;
  std::size_t next = 0;
  while (next < arrivals.size() || !works.empty()) {
    const auto n = static_cast<long double>(works.size());
    const long double share = std::min(1.0L, n > 0 ? cores / n : 1.0L);
    const long double busy = std::min(n, cores);
    const long double slowed = busy > 1 && cores > 1 ? (1 - scaling) * (busy - 1) / (cores - 1) : 0;
    const long double speed = share * (1 - slowed);
    const auto first =
        std::min_element(works.begin(), works.end(), [](const Work& a, const Work& b) {
          return std::tie(a.left, a.who) < std::tie(b.left, b.who);
        });
    const long double end = first == works.end() ? 1e30L : now + first->left / speed;
    const long double arrival =
        next < arrivals.size() ? static_cast<long double>(arrivals[next].at) : 1e30L;
    const long double then = std::min(end, arrival);
    for (Work& work : works) {
      work.left -= (then - now) * speed;
      work.waited += (then - now) * (1 - share);
    }
    now = then;
    if (end <= arrival) {
      ends.push_back(
          {static_cast<Nanos>(now + 0.5L), first->who, static_cast<Nanos>(first->waited + 0.5L)});
      works.erase(first);
    } else {
      works.push_back({arrivals[next].who, static_cast<long double>(arrivals[next].amount), 0});
      ++next;
    }
  }
  return ends;
}

std::map<std::uint64_t, End> index_ends(const std::vector<End>& ends) {
  std::map<std::uint64_t, End> result;
  for (const End& end : ends) result[end.who] = end;
  return result;
}

TEST(SharedServer, CountsThreadsOfALibrary) {
  SharedServer server(2, 1);
  server.add(0, 1, 100, 2);
  EXPECT_EQ(server.next_end(), 100) << "both of its threads have a core";
  server.add(0, 2, 100, 2);
  EXPECT_EQ(server.next_end(), 200) << "four threads share two cores";
  server.end_next(200);
  server.end_next(200);
  server.add(200, 3, 100);
  server.add(200, 4, 100);
  EXPECT_EQ(server.next_end(), 300) << "those that have ended take no core";
}

TEST(SharedServer, AgreesWithAFluidSimulation) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Dice dice(seed);
    const double cores = dice.pick({0.3, 0.5, 1.0, 1.5, 2.0, 2.75, 8.0});
    const double scaling = dice.pick({1.0, 1.0, 0.9, 0.5});
    const std::int64_t longest = dice.pick<std::int64_t>({20, 5000, 10'000'000});
    std::vector<Arrival> arrivals;
    Nanos at = 0;
    const std::int64_t works = dice.between(1, 60);
    for (std::int64_t i = 0; i < works; ++i) {
      if (!dice.chance(3)) at += dice.between(0, longest / dice.between(1, 4));
      arrivals.push_back({at, static_cast<std::uint64_t>(i), dice.between(0, longest)});
    }
    SharedServer server(cores, scaling);
    const auto ends = index_ends(run(server, arrivals));
    const auto expected = index_ends(run_fluid(cores, scaling, arrivals));
    ASSERT_EQ(ends.size(), expected.size());
    double last = 0;
    for (const auto& [who, end] : expected) last = std::max(last, static_cast<double>(end.at));
    // An end is rounded up to a ns, and so is everything that sped up because of it; the scaling to
    // parts of a million.
    const double tolerance = static_cast<double>(works) / cores + 2 + 2e-6 * last;
    for (const auto& [who, end] : ends) {
      ASSERT_NEAR(static_cast<double>(end.at), static_cast<double>(expected.at(who).at), tolerance)
          << "seed " << seed;
      ASSERT_NEAR(static_cast<double>(end.waited), static_cast<double>(expected.at(who).waited),
                  tolerance)
          << "seed " << seed;
    }
  }
}

TEST(SharedServer, RunsWorksIndependentlyIfCoresSuffice) {
  SharedServer server(4, 1);
  const auto ends = run(server, {{0, 1, 100}, {0, 2, 50}, {7, 3, 10}, {20, 4, 200}});
  std::vector<std::tuple<Nanos, std::uint64_t, Nanos>> got;
  for (const End& end : ends) got.emplace_back(end.at, end.who, end.waited);
  EXPECT_EQ(got, (decltype(got){{17, 3, 0}, {50, 2, 0}, {100, 1, 0}, {220, 4, 0}}));
}

TEST(SharedServer, SharesOneCoreBetweenTwoWorks) {
  SharedServer server(1, 1);
  // 10 alone, then both at half speed; the first has 90 left at 10 and ends at 190.
  const auto ends = run(server, {{0, 1, 100}, {10, 2, 200}});
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].at, 190);
  EXPECT_EQ(ends[0].waited, 90);
  EXPECT_EQ(ends[1].at, 300);
  EXPECT_EQ(ends[1].waited, 90);
}

TEST(SharedServer, RunsAtHalfSpeedOnHalfACore) {
  SharedServer server(0.5, 1);
  const auto ends = run(server, {{0, 1, 100}});
  EXPECT_EQ(ends[0].at, 200);
  EXPECT_EQ(ends[0].waited, 100);
}

TEST(SharedServer, SlowsBusyCoresWithoutWaiting) {
  SharedServer server(3, 0.5);
  // One alone runs at full speed, two at 0.75, three at 0.5.
  EXPECT_EQ(run(server, {{0, 1, 60}})[0].at, 60);
  const auto ends = run(server, {{100, 1, 60}, {100, 2, 60}, {100, 3, 60}});
  EXPECT_EQ(ends[2].at, 220);
  EXPECT_EQ(ends[2].waited, 0);
}

TEST(SharedServer, OrdersEqualEndsByNumber) {
  SharedServer server(2, 1);
  const auto ends = run(server, {{0, 9, 10}, {0, 3, 10}, {0, 5, 10}, {0, 4, 10}});
  std::vector<std::uint64_t> order;
  for (const End& end : ends) {
    EXPECT_EQ(end.at, 20);
    order.push_back(end.who);
  }
  EXPECT_EQ(order, (std::vector<std::uint64_t>{3, 4, 5, 9}));
}

TEST(SharedServer, EndsWorkWithoutTimeAtOnce) {
  SharedServer server(1, 1);
  const auto ends = run(server, {{5, 1, 100}, {7, 2, 0}});
  EXPECT_EQ(ends[0].who, 2u);
  EXPECT_EQ(ends[0].at, 7);
  EXPECT_EQ(ends[1].at, 105);
}

// The clock of work done is set back now and then; here it would pass 2^63.
TEST(SharedServer, RunsForYearsWithoutIdling) {
  SharedServer server(2, 1);
  const Nanos day = 24 * 3600 * kSecond;
  std::vector<Arrival> arrivals;
  for (std::int64_t i = 0; i < 2000; ++i)
    arrivals.push_back({i * 10 * day, static_cast<std::uint64_t>(i), 20 * day});
  const auto ends = run(server, arrivals);
  ASSERT_EQ(ends.size(), 2000u);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(ends[i].who, i);
    EXPECT_EQ(ends[i].at, (static_cast<Nanos>(i) + 2) * 10 * day);
  }
}

// Waiting adds up over a run of decades without running over.
TEST(SharedServer, WaitsForDecades) {
  SharedServer server(0.001, 1);
  const auto ends = run(server, {{0, 1, kMaxCost / 2}, {0, 2, kMaxCost / 2}});
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].at, kMaxCost * 1000);
  EXPECT_EQ(ends[0].waited, kMaxCost * 1000 - kMaxCost / 2);
}

TEST(SharedServer, KeepsLateEndsBeforeNever) {
  SharedServer server(0.001, 1);
  for (std::uint64_t who = 0; who < 1000; ++who) server.add(0, who, kMaxCost);
  EXPECT_EQ(server.next_end(), kNever - 1);
}

// Two threads that wait for each other, and two others, on two cores: each of the four has a core
// half of its time, and both of the team a quarter of it. What two others do in 40 ms takes 20 ms
// of their work, and leaves the team 10 of its 20 ms.
TEST(SharedServer, MovesTeamOnlyWhileAllThreadsHaveCores) {
  SharedServer server(2, 1, 0, 2);
  server.add_team(0, 3, 20 * kMillisecond);
  server.add(0, 1, 20 * kMillisecond);
  server.add(0, 2, 20 * kMillisecond);
  EXPECT_EQ(server.next_who(), 1U);
  EXPECT_EQ(server.next_end(), 40 * kMillisecond);
  server.end_next(server.next_end());
  server.end_next(server.next_end());
  EXPECT_EQ(server.next_who(), 3U);
  EXPECT_NEAR(static_cast<double>(server.next_end()), 50.0 * kMillisecond, 10.0);
  server.end_next(server.next_end());
  EXPECT_TRUE(server.idle());
}

TEST(SharedServer, RunsTeamAtFullSpeedWithSpareCores) {
  SharedServer server(4, 1, 0, 2);
  server.add_team(0, 3, 20 * kMillisecond);
  server.add(0, 1, 20 * kMillisecond);
  EXPECT_EQ(server.next_who(), 1U);
  server.end_next(server.next_end());
  EXPECT_EQ(server.next_end(), 20 * kMillisecond);
}

}  // namespace
}  // namespace loaderscope::model
