// Predictions for requests to servers after changes of the storage: exact numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/request_times.h"
#include "predict/fitted_model.h"
#include "unit/findings/users_code.h"

namespace loaderscope {
namespace {

using ::testing::HasSubstr;

// One worker takes a sample per ms with four requests in flight. Each request has its first byte
// after 4 ms, and after 2.5 ms if no other is in flight. So 1.5 ms are for the three others.
RunRecord requests_record() {
  RunRecord record = test::run(
      "cost = read=1ms:sleep\nworkers = 1\nbatch = 8\nsteps = 100\n"
      "stored-bytes = 100kB\n");
  record.engine = record.config.engine.value = "native";
  record.config.data.source.value = "files";
  record.config.data.paths.set({"http://host/a/"});
  record.config.data.samples.value = 100'000;
  record.config.data.queue_depth.value = 4;
  record.config.declared.cost = {};
  record.config.data.stored_bytes = {};
  const auto add = [&](const char* name, double value) {
    record.metrics.push_back({name, "1", "for a test", value});
  };
  add("requests.sent", 800);
  add("requests.bytes", 80e6);
  add("requests.first_byte_s", 4e-3);
  add("requests.time_s", 4e-3);
  add("requests.in_flight", 4);
  add("requests.opening_alone", 3);
  add("requests.opening_alone_least_s", 2.5e-3);
  return record;
}

void set_metric(RunRecord& record, std::string_view name, double value) {
  for (Metric& metric : record.metrics)
    if (metric.name == name) metric.value = value;
}

double gain(const RunRecord& record, const Changes& changes) {
  return FittedModel(record).predict(changes).gain();
}

TEST(StorageRequests, TakesLatencyFromSingleRequests) {
  const RunRecord record = requests_record();
  EXPECT_EQ(request_times(record)->alone, 2.5e-3);
  EXPECT_FALSE(request_times(record)->is_full());
  // Set to what it is, nothing changes.
  EXPECT_NEAR(gain(record, {{"storage.latency", "2500us"}}), 1, 1e-9);
  // 0.5 + 1.5 ms in place of 2.5 + 1.5.
  EXPECT_NEAR(gain(record, {{"storage.latency", "500us"}}), 2, 0.02);
}

TEST(StorageRequests, AddsWaitForEachOtherRequest) {
  const RunRecord record = requests_record();
  // 8 at once: each waits 0.5 ms for each of 7 others, and takes 6 ms: 8 / 6 in place of 4 / 4.
  EXPECT_NEAR(gain(record, {{"storage.in-flight", "8"}}), 8 / 6.0, 0.02);
  EXPECT_NEAR(gain(record, {{"num-workers", "2"}}), 8 / 6.0, 0.02);
  // A single request waits for no other: 1 / 2.5.
  EXPECT_NEAR(gain(record, {{"storage.in-flight", "1"}}), 1 / 2.5, 0.01);
  // No request was alone: each is as fast as measured with any number in flight.
  RunRecord unknown = requests_record();
  set_metric(unknown, "requests.opening_alone", 0);
  set_metric(unknown, "requests.opening_alone_least_s", 0);
  EXPECT_NEAR(gain(unknown, {{"storage.in-flight", "8"}}), 2, 0.03);
  EXPECT_NEAR(gain(unknown, {{"storage.latency", "2ms"}}), 2, 0.03);
}

// 1.5 of 4 ms: more at once bring no more. A second worker gets nothing, half the bytes all of it.
TEST(StorageRequests, DetectsFullLinkFromSingleRequests) {
  RunRecord record = requests_record();
  set_metric(record, "requests.opening_alone_least_s", 1.5e-3);
  EXPECT_TRUE(request_times(record)->is_full());
  EXPECT_NEAR(gain(record, {{"num-workers", "2"}}), 1, 0.02);
  EXPECT_NEAR(gain(record, {{"storage.in-flight", "8"}}), 1, 0.02);
  EXPECT_NEAR(gain(record, {{"storage.bandwidth", "50MB/s"}}), 0.5, 0.01);
  EXPECT_NEAR(gain(record, {{"storage.bandwidth", "200MB/s"}}), 2, 0.03);
}

// Each request is limited on its own: its 100 kB take 2.5 ms with or without others. Twice as many
// requests bring twice as much, beyond what the run has seen.
TEST(StorageRequests, SeparatesLimitOfRequestFromFullLink) {
  RunRecord record = requests_record();
  set_metric(record, "requests.opening_alone_least_s", 1.5e-3);
  record.metrics.push_back({"requests.slowed_by_others", "1", "for a test", 0});
  ASSERT_TRUE(request_times(record)->is_limited_each());
  EXPECT_FALSE(request_times(record)->is_full());
  EXPECT_DOUBLE_EQ(request_times(record)->rate_of_each(), 40e6);
  EXPECT_NEAR(gain(record, {{"storage.in-flight", "8"}}), 2, 0.03);
  EXPECT_NEAR(gain(record, {{"num-workers", "2"}}), 2, 0.03);
  EXPECT_NEAR(gain(record, {{"storage.in-flight", "2"}}), 0.5, 0.01);
  EXPECT_GT(FittedModel(record).predict({{"storage.in-flight", "8"}}).may_be_off, 0.2);
  // A link that gives what is used is full with twice as many.
  EXPECT_NEAR(gain(record, {{"storage.in-flight", "8"}, {"storage.bandwidth", "100MB/s"}}), 1,
              0.02);
  for (Metric& metric : record.metrics)
    if (metric.name == "requests.slowed_by_others") metric.value = 1;
  EXPECT_TRUE(request_times(record)->is_full());
  EXPECT_FALSE(request_times(record)->may_be_limited_each());
}

// One at a time: 1 ms to the first byte, 3 for the bytes. Two at once keep the link busy, and get a
// third more; with 0.5 ms it is busy already.
TEST(StorageRequests, CountsLatencyAsIdleTimeOfLink) {
  RunRecord record = requests_record();
  set_metric(record, "requests.in_flight", 1);
  set_metric(record, "requests.opening_alone_least_s", 1e-3);
  set_metric(record, "requests.first_byte_s", 1e-3);
  EXPECT_FALSE(request_times(record)->is_full());
  set_metric(record, "requests.opening_alone_least_s", 0.5e-3);
  EXPECT_TRUE(request_times(record)->is_full());
  EXPECT_DOUBLE_EQ(request_times(record)->on_link(), 3.5e-3);
}

// A wider link makes no request faster that was alone on it.
TEST(StorageRequests, LimitsRateByNarrowerLinkOnly) {
  const RunRecord record = requests_record();
  EXPECT_NEAR(gain(record, {{"storage.bandwidth", "2GB/s"}}), 1, 0.02);
  EXPECT_NEAR(gain(record, {{"storage.bandwidth", "50MB/s"}}), 0.5, 0.01);
}

// Each request takes 2 of its 5 ms for its bytes, which is 50 MB/s. One request in flight does not
// show whether more requests get as much: 8 in flight would take 160 MB/s.
TEST(StorageRequests, PromisesNothingBeyondWhatTheRunSaw) {
  RunRecord record = requests_record();
  for (const auto& [name, value] : {std::pair("requests.first_byte_s", 3e-3),
                                    {"requests.time_s", 5e-3},
                                    {"requests.in_flight", 1.0},
                                    {"requests.opening_alone_least_s", 3e-3}})
    set_metric(record, name, value);
  record.config.data.queue_depth.value = 1;
  for (RankRecord& rank : record.ranks) rank.samples /= 5;  // 200 samples/s, 20 MB/s
  const FittedModel model(record);
  const Prediction two = model.predict({{"storage.in-flight", "2"}});
  EXPECT_EQ(two.may_be_off, 0);
  const Prediction eight = model.predict({{"storage.in-flight", "8"}});
  EXPECT_FALSE(eight.is_known());
  EXPECT_THAT(eight.notes.back(), HasSubstr("of which this run saw 50.0 MB/s"));
  const Changes declared = {{"storage.in-flight", "8"}, {"storage.bandwidth", "1GB/s"}};
  EXPECT_TRUE(model.predict(declared).is_known());
}

TEST(StorageRequests, ReportsMeasuredValueForEachChange) {
  const Changes changes = {{"storage.latency", "5ms"},
                           {"storage.bandwidth", "1GB/s"},
                           {"storage.in-flight", "8"},
                           {"cache.hit-rate", "0.5"},
                           {"other-threads", "0"}};
  const std::vector<StorageValue> values = FittedModel(requests_record()).storage_values(changes);
  ASSERT_EQ(values.size(), 4U);
  EXPECT_EQ(values[0].sentence(),
            "storage.latency 2.500 ms now -> 5.000 ms: from a read or a request to its first byte "
            "while no other is in flight (the shortest of 3 such requests; the 1.500 ms more "
            "with 4.0 in flight stay)");
  EXPECT_DOUBLE_EQ(values[1].now.value(), 100e6);
  EXPECT_THAT(values[1].basis, HasSubstr("not full"));
  EXPECT_EQ(values[2].now, 4);
  EXPECT_EQ(values[3].now, 0);
}

TEST(StorageRequests, ReportsDeclaredValueForChange) {
  const FittedModel model(test::run("storage-latency = 8ms\nworkers = 1\nsteps = 20\n"));
  EXPECT_EQ(model.storage_values({{"storage.latency", "1ms"}}).front().now, 8e-3);
}

// The mean of many, the shortest of few.
TEST(StorageRequests, UsesMeanOfManyOrShortestOfFew) {
  RunRecord record = requests_record();
  for (const auto& [name, value] : {std::pair("requests.alone", 2.0),
                                    {"requests.alone_s", 9e-3},
                                    {"requests.alone_least_s", 3e-3}})
    record.metrics.push_back({name, "1", "", value});
  EXPECT_EQ(request_times(record)->alone, 2.5e-3);
  EXPECT_EQ(request_times(record)->counted_alone, 5);
  set_metric(record, "requests.alone_least_s", 2e-3);
  EXPECT_EQ(request_times(record)->alone, 2e-3);
  set_metric(record, "requests.alone", 20);
  set_metric(record, "requests.alone_s", 3e-3);
  EXPECT_EQ(request_times(record)->alone, 3e-3);
  set_metric(record, "requests.alone_s", 9e-3);
  EXPECT_EQ(request_times(record)->alone, 4e-3) << "never longer than with others";
}

}  // namespace
}  // namespace loaderscope
