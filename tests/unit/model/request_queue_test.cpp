// Requests that are made ahead of what is read: exact times.
#include "engine/model/request_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace loaderscope::model {
namespace {

FittedCosts::Requests make_requests(double latency, std::int64_t depth) {
  FittedCosts::Requests requests;
  requests.latency = latency;
  requests.bytes = 1000;
  requests.depth = depth;
  requests.held = 2 * depth;
  return requests;
}

// Returns the times at which readers that make nothing have each sample. Each take adds `known`
// samples. All readers share one link.
std::vector<std::vector<Nanos>> ready_of_each(const FittedCosts::Requests& requests, int readers,
                                              std::size_t samples, std::int64_t known = 1000) {
  std::vector<RequestQueue> queues(static_cast<std::size_t>(readers), RequestQueue(requests));
  std::vector<std::vector<Nanos>> times(queues.size());
  std::vector<Nanos> looks_at(queues.size());
  for (RequestQueue& queue : queues) queue.ask(known);
  for (Nanos link_free = 0;;) {
    const auto next = std::min_element(looks_at.begin(), looks_at.end());
    const Nanos now = *next;
    if (now == kNever) return times;
    const auto reader = static_cast<std::size_t>(next - looks_at.begin());
    *next = queues[reader].look(now, link_free);
    if (*next > now) continue;
    times[reader].push_back(now);
    if (times[reader].size() == samples) *next = kNever;
    queues[reader].ask(known);
  }
}

std::vector<Nanos> ready(const FittedCosts::Requests& requests, std::size_t samples,
                         std::int64_t known = 1000) {
  return ready_of_each(requests, 1, samples, known).front();
}

TEST(RequestQueue, KeepsDepthRequestsInFlight) {
  EXPECT_EQ(ready(make_requests(100, 1), 3), (std::vector<Nanos>{100, 200, 300}));
  EXPECT_EQ(ready(make_requests(100, 2), 5), (std::vector<Nanos>{100, 100, 200, 200, 300}));
}

TEST(RequestQueue, RequestsOnlyKnownSamplesAhead) {
  EXPECT_EQ(ready(make_requests(100, 8), 3, 0), (std::vector<Nanos>{100, 200, 300}));
}

// 1000 bytes at 0.1 ns each are 100 ns: each request by itself, or one after the other on the link.
TEST(RequestQueue, AddsTransferTimeAndSharesLink) {
  FittedCosts::Requests requests = make_requests(50, 4);
  requests.per_byte = 0.1;
  EXPECT_EQ(ready(requests, 4), (std::vector<Nanos>{150, 150, 150, 150}));
  requests.link_per_byte = 0.1;
  EXPECT_EQ(ready(requests, 4), (std::vector<Nanos>{150, 250, 350, 450}));
  // A link that is faster than each request by itself delays none.
  requests.link_per_byte = 0.01;
  EXPECT_EQ(ready(requests, 4), (std::vector<Nanos>{150, 150, 150, 150}));
}

// A later request of one reader does not delay an earlier request of another.
TEST(RequestQueue, OrdersReadersOnLinkByTime) {
  FittedCosts::Requests requests = make_requests(100, 1);
  requests.link_per_byte = 0.01;  // 10 ns of each
  EXPECT_EQ(ready_of_each(requests, 2, 3),
            (std::vector<std::vector<Nanos>>{{110, 220, 330}, {120, 230, 340}}));
  requests.link_per_byte = 0.0001;  // wide enough for all
  EXPECT_EQ(ready_of_each(requests, 4, 3), (std::vector<std::vector<Nanos>>(4, {100, 200, 300})));
  // Four are 400 ns of the link, and it is full.
  requests.link_per_byte = 0.1;
  EXPECT_EQ(ready_of_each(requests, 4, 2),
            (std::vector<std::vector<Nanos>>{{200, 600}, {300, 700}, {400, 800}, {500, 900}}));
}

TEST(RequestQueue, AddsQueueingToLatency) {
  FittedCosts::Requests requests = make_requests(100, 2);
  requests.queueing = 40;
  EXPECT_EQ(ready(requests, 3), (std::vector<Nanos>{140, 140, 280}));
}

TEST(RequestQueue, AnswersCacheHitsAtOnce) {
  FittedCosts::Requests requests = make_requests(100, 1);
  requests.hit_rate = 0.5;
  EXPECT_EQ(ready(requests, 4), (std::vector<Nanos>{100, 100, 200, 200}));
}

TEST(RequestQueue, FetchesSeveralSamplesOrPartOfOne) {
  FittedCosts::Requests requests = make_requests(100, 1);
  requests.held = 1;
  requests.samples = 2;
  EXPECT_EQ(ready(requests, 4), (std::vector<Nanos>{100, 100, 200, 200}));
  requests.samples = 0.5;
  EXPECT_EQ(ready(requests, 2), (std::vector<Nanos>{200, 400}));
  // Also of parts that a cache answers.
  requests.hit_rate = 1;
  EXPECT_EQ(ready(requests, 2), (std::vector<Nanos>{0, 0}));
}

// Requests hide the work of the worker, or the work hides the wait for requests.
TEST(RequestQueue, FetchesWhileWorkerIsBusy) {
  const FittedCosts::Requests requests = make_requests(100, 1);
  RequestQueue queue(requests);
  Nanos link_free = 0;
  const auto asked = [&](Nanos now) {
    queue.ask(10);
    return queue.look(now, link_free);
  };
  EXPECT_EQ(asked(0), 100);
  EXPECT_EQ(queue.look(100, link_free), 100);
  EXPECT_EQ(asked(100), 200);
  EXPECT_EQ(queue.look(200, link_free), 200);
  // Begun at 200, when the one before it was there; the next one when somebody looks again.
  EXPECT_EQ(asked(500), 500);
  EXPECT_EQ(asked(500), 600);
}

}  // namespace
}  // namespace loaderscope::model
