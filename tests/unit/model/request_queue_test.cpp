// Requests that are made ahead of what is read: exact times.
#include "engine/model/request_queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace loaderscope::model {
namespace {

FittedCosts::Requests requests_of(double latency, std::int64_t depth) {
  FittedCosts::Requests requests;
  requests.latency = latency;
  requests.bytes = 1000;
  requests.depth = depth;
  requests.held = 2 * depth;
  return requests;
}

// When a reader that makes nothing has each sample, with so many more known at each.
std::vector<Nanos> ready(const FittedCosts::Requests& requests, int samples,
                         std::int64_t known = 1000) {
  RequestQueue queue(requests);
  std::vector<Nanos> times;
  Nanos now = 0, link_free = 0;
  for (int i = 0; i < samples; ++i) times.push_back(now = queue.next_ready(now, known, link_free));
  return times;
}

TEST(RequestQueue, SoManyComeAtOnceAsMayBeUnderWay) {
  EXPECT_EQ(ready(requests_of(100, 1), 3), (std::vector<Nanos>{100, 200, 300}));
  EXPECT_EQ(ready(requests_of(100, 2), 5), (std::vector<Nanos>{100, 100, 200, 200, 300}));
}

TEST(RequestQueue, WhatIsNotKnownIsNotAskedForAhead) {
  EXPECT_EQ(ready(requests_of(100, 8), 3, 0), (std::vector<Nanos>{100, 200, 300}));
}

// 1000 bytes at 0.1 ns each are 100 ns: each request by itself, or one after the other on the link.
TEST(RequestQueue, BytesTakeTheirTimeAndShareALink) {
  FittedCosts::Requests requests = requests_of(50, 4);
  requests.per_byte = 0.1;
  EXPECT_EQ(ready(requests, 4), (std::vector<Nanos>{150, 150, 150, 150}));
  requests.link_per_byte = 0.1;
  EXPECT_EQ(ready(requests, 4), (std::vector<Nanos>{150, 250, 350, 450}));
  // Wider than what each takes by itself, it holds nobody up.
  requests.link_per_byte = 0.01;
  EXPECT_EQ(ready(requests, 4), (std::vector<Nanos>{150, 150, 150, 150}));
}

TEST(RequestQueue, WaitsBehindOthersBesideTheLatency) {
  FittedCosts::Requests requests = requests_of(100, 2);
  requests.queueing = 40;
  EXPECT_EQ(ready(requests, 3), (std::vector<Nanos>{140, 140, 280}));
}

TEST(RequestQueue, ACacheAnswersAtOnce) {
  FittedCosts::Requests requests = requests_of(100, 1);
  requests.hit_rate = 0.5;
  EXPECT_EQ(ready(requests, 4), (std::vector<Nanos>{100, 100, 200, 200}));
}

TEST(RequestQueue, ARequestMayBringSeveralSamplesOrAPartOfOne) {
  FittedCosts::Requests requests = requests_of(100, 1);
  requests.held = 1;
  requests.samples = 2;
  EXPECT_EQ(ready(requests, 4), (std::vector<Nanos>{100, 100, 200, 200}));
  requests.samples = 0.5;
  EXPECT_EQ(ready(requests, 2), (std::vector<Nanos>{200, 400}));
}

// What a worker makes meanwhile is hidden, or hides what it waits for.
TEST(RequestQueue, ComesWhileTheWorkerIsBusy) {
  const FittedCosts::Requests requests = requests_of(100, 1);
  RequestQueue queue(requests);
  Nanos link_free = 0;
  EXPECT_EQ(queue.next_ready(0, 10, link_free), 100);
  EXPECT_EQ(queue.next_ready(100, 10, link_free), 200);
  // Begun at 200, when the one before it was there; the next one when somebody looks again.
  EXPECT_EQ(queue.next_ready(500, 10, link_free), 500);
  EXPECT_EQ(queue.next_ready(500, 10, link_free), 600);
}

}  // namespace
}  // namespace loaderscope::model
