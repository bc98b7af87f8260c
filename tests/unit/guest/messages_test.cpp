// Messages of processes are bounded on arrival, whatever the program's names and objects are.
#include "guest/host/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "guest/protocol/bounded.h"
#include "tools/pretend_member.h"

namespace loaderscope::guest {
namespace {

using ::testing::HasSubstr;

nlohmann::json a_loader() {
  nlohmann::json loader = pretended_loader();
  loader["code"] = {{"collate", "pad (train.py:4)"}};
  return loader;
}

class MessagesTest : public testing::Test {
 protected:
  MessagesTest() { member_.pid = 12; }

  void receive(const nlohmann::json& message) { messages_.receive_report(member_, message.dump()); }
  void count(const nlohmann::json& values) { receive({{"what", "counters"}, {"values", values}}); }

  RunConfig config_;
  TrainingProcesses trainers_{config_};
  ProcessWatch watch_;
  Messages messages_{config_, trainers_, watch_};
  GuestProcess member_{-1};
};

TEST_F(MessagesTest, CutsLongNames) {
  nlohmann::json message = a_loader();
  message["dataset"] = std::string(150'000, 'D');
  const LoaderFacts loader = parse_loader_facts(message);
  EXPECT_LE(loader.dataset.size(), kMaxName);
  EXPECT_EQ(loader.place, "train.py:12");
}

TEST_F(MessagesTest, ClampsImpossibleCounts) {
  nlohmann::json message = a_loader();
  message["num_workers"] = std::int64_t{1} << 60;
  message["batch_size"] = -8;
  const LoaderFacts loader = parse_loader_facts(message);
  EXPECT_EQ(loader.num_workers, kMaxWorkers);
  EXPECT_EQ(loader.batch_size, 0);
}

TEST_F(MessagesTest, LimitsNumberAndLengthOfNotes) {
  for (int i = 0; i < 1000; ++i)
    receive({{"what", "degraded"}, {"text", std::to_string(i) + std::string(10'000, 'x')}});
  EXPECT_LE(messages_.notes().size(), 64U);
  for (const std::string& note : messages_.notes()) EXPECT_LE(note.size(), kMaxSentence);
}

TEST_F(MessagesTest, KeepsNoPasswordAndNoSignatureOfAUrl) {
  receive({{"what", "degraded"}, {"text", "GET https://me:pw@host/a?X-Amz-Signature=1 failed"}});
  ASSERT_EQ(messages_.notes().size(), 1U);
  EXPECT_EQ(messages_.notes()[0], "GET https://***@host/a?X-Amz-Signature=*** failed");
}

TEST_F(MessagesTest, NotesInvalidMessages) {
  nlohmann::json message = a_loader();
  message["iterator"] = -77;
  receive(message);
  messages_.receive_report(member_, "{\"what\": \"loader\", \"place\": \"\xff");
  messages_.receive_report(member_, std::string(200'000, '['));
  ASSERT_GE(messages_.notes().size(), 2U);
  for (const std::string& note : messages_.notes())
    EXPECT_THAT(note, HasSubstr("a message was not understood"));
}

TEST_F(MessagesTest, RecordsNamesOfLoaderCode) {
  receive(a_loader());
  EXPECT_TRUE(messages_.notes().empty());
  const std::vector<Detail> details = messages_.counters().details();
  ASSERT_EQ(details.size(), 1U);
  EXPECT_EQ(details.front().text, "pad (train.py:4)");
}

TEST_F(MessagesTest, IgnoresMessagesOfUnknownKind) {
  receive({{"what", "gossip"}, {"text", "no"}});
  receive({{"text", "no"}});
  EXPECT_TRUE(messages_.notes().empty());
}

TEST_F(MessagesTest, KeepsFirstFailure) {
  receive({{"what", "failed"}, {"text", "Traceback\nOSError: disk"}, {"worker", 3}});
  receive({{"what", "failed"}, {"text", "ValueError: later"}, {"worker", nullptr}});
  EXPECT_EQ(messages_.failure(), "worker 3: OSError: disk");
}

TEST_F(MessagesTest, RecordsReasonForUnmeasuredLoader) {
  receive({{"what", "degraded"}, {"text", "part of it"}, {"loader", false}});
  receive({{"what", "degraded"}, {"text", "all of it"}, {"loader", true}});
  EXPECT_EQ(messages_.not_looked_into(), "all of it");
  EXPECT_THAT(messages_.notes(), testing::ElementsAre("part of it", "all of it"));
}

TEST_F(MessagesTest, CombinesPaddingOfAllProcesses) {
  count({{"collate.padding_share", {10, 20}}});
  count({{"collate.padding_share", {20, 80}}});  // replaces the previous count
  member_.pid = 13;
  count({{"collate.padding_share", {0, 20}}});
  const std::vector<Metric> metrics = messages_.counters().metrics({});
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_NEAR(metrics.front().value, 0.2, 1e-12);
}

TEST_F(MessagesTest, ReportsStatesOfTrainerAndWorkers) {
  count({{"state.trainer_s", {8e-3, 4}}, {"state.trainer_share", {4, 1}}});
  member_.is_worker = true;
  for (const int pid : {13, 14}) {
    member_.pid = pid;
    count({{"state.worker_s", {1e-3, 2}},
           {"state.worker_share", {2, 1}},
           {"state.bytes", {100 * pid, 1}}});
  }
  const std::vector<Metric> metrics = messages_.counters().metrics({});
  ASSERT_EQ(metrics.size(), 3U);
  EXPECT_EQ(metrics[0].name, "state.trainer_s");
  EXPECT_NEAR(metrics[0].value, 0.002, 1e-12);
  EXPECT_EQ(metrics[1].name, "state.worker_s");
  EXPECT_NEAR(metrics[1].value, 0.0005, 1e-12);
  EXPECT_EQ(metrics[2].name, "state.bytes");
  EXPECT_NEAR(metrics[2].value, 1350, 1e-9);
  EXPECT_EQ(value_of(messages_.counters().metrics({.batches = 16}), "state.worker_share"), 0.25);
}

TEST_F(MessagesTest, SumsFramesOfAllProcesses) {
  EXPECT_TRUE(messages_.counters().metrics({}).empty());
  const auto count_frames = [this](int decoded, int used) {
    count({{"video.frames_decoded", {decoded, 1}},
           {"video.frames_used", {used, 1}},
           {"video.decoded_per_used", {decoded, used}}});
  };
  count_frames(10, 1);
  count_frames(30, 2);
  member_.pid = 13;
  count_frames(30, 3);
  const std::vector<Metric> metrics = messages_.counters().metrics({});
  ASSERT_EQ(metrics.size(), 3U);
  EXPECT_EQ(metrics[0].value, 60);
  EXPECT_EQ(metrics[1].value, 5);
  EXPECT_EQ(metrics[2].value, 12);
}

TEST_F(MessagesTest, NotesCountersOfNoKnownForm) {
  for (const nlohmann::json& values :
       {nlohmann::json(3), nlohmann::json{{"dali.queue", 3}}, nlohmann::json{{"dali.queue", {1}}},
        nlohmann::json{{"dali.queue", {"1", 1}}}})
    count(values);
  count({{"unheard of", "anything"}});  // skipped
  EXPECT_TRUE(messages_.counters().metrics({}).empty());
  EXPECT_GE(messages_.notes().size(), 2U);
  for (const std::string& note : messages_.notes())
    EXPECT_THAT(note, HasSubstr("a message was not understood"));
}

nlohmann::json traffic(const std::string& role, int requests_first, int requests, int batches) {
  const int further = batches < 2 ? 0 : batches - 1;
  return {{"opens." + role + "_first", {10, 1}},
          {"requests." + role + "_first", {requests_first, 1}},
          {"requests." + role + "_first_s", {2, 1}},
          {"opens.per_sample", {further > 0 ? 100 - 10 : 0, further}},
          {"requests.per_sample", {further > 0 ? requests - requests_first : 0, further}},
          {"requests.count", {requests, 1}},
          {"requests.bytes", {500, 1}},
          {"requests.throttled", {2, 1}}};
}

double reported(const std::vector<Metric>& metrics, std::string_view name) {
  return value_of(metrics, name).value_or(-1);
}

TEST_F(MessagesTest, ReportsTrafficBeforeAndAfterFirstBatch) {
  EXPECT_TRUE(messages_.counters().metrics({.samples_per_batch = 4}).empty());
  count(traffic("trainer", 1, 1, 0));
  member_.is_worker = true;
  for (const int pid : {13, 14}) {
    member_.pid = pid;
    nlohmann::json first = traffic("worker", 5, 5, 1);
    const std::string own = "list /data/" + std::to_string(pid);
    first["opens.same"] = {2, 1, {{"GET http://a/index", 1}, {own, 1}}};
    count(first);
    count(traffic("worker", 5, 5 + 80, 11));  // the names are reported once
  }
  const std::vector<Metric> metrics = messages_.counters().metrics({.samples_per_batch = 4});
  EXPECT_EQ(reported(metrics, "opens.trainer_first"), 10);
  EXPECT_EQ(reported(metrics, "requests.worker_first"), 5);
  EXPECT_EQ(reported(metrics, "requests.worker_first_s"), 2);
  EXPECT_EQ(reported(metrics, "requests.count"), 171);
  EXPECT_EQ(reported(metrics, "requests.throttled"), 6);
  EXPECT_EQ(reported(metrics, "requests.per_sample"), 160. / 20 / 4);
  EXPECT_EQ(reported(metrics, "opens.per_sample"), 180. / 20 / 4);
  EXPECT_EQ(reported(metrics, "opens.same"), 1);
  const std::vector<Detail> details = messages_.counters().details();
  ASSERT_EQ(details.size(), 1U);
  EXPECT_EQ(details[0].text, "GET http://a/index");
}

TEST_F(MessagesTest, ClampsCounterValues) {
  count({{"opens.trainer_first", {-1e300, 1}}, {"requests.count", {1e300, 1}}});
  count({{"opens.trainer_first_listings", {1e300, 1e-300}}});  // is left out
  const std::vector<Metric> metrics = messages_.counters().metrics({.samples_per_batch = 1});
  EXPECT_EQ(metrics.size(), 2U);
  for (const Metric& metric : metrics) {
    EXPECT_GE(metric.value, 0);
    EXPECT_LT(metric.value, 1e19);
  }
}

// Two clocks are not read at the same time: noise around 0 has its mean at 0.
TEST_F(MessagesTest, KeepsSignOfClockDifferences) {
  count({{"making.library_cores", {-3, 1}}});
  member_.pid = 13;
  count({{"making.library_cores", {1, 1}}});
  EXPECT_EQ(reported(messages_.counters().metrics({}), "making.library_cores"), -1);
}

TEST_F(MessagesTest, ReportsMeanOfBytesCopiedByWorkers) {
  EXPECT_TRUE(messages_.counters().metrics({}).empty());
  const auto copy = [this](double bytes) {
    count({{"memory.copied_bytes",
            {100 + bytes, 1, {{"Photos.few", 100}, {"Photos.samples", bytes}}}}});
  };
  member_.is_worker = true;
  copy(200);
  copy(500);
  member_.pid = 13;
  copy(300);
  EXPECT_NEAR(messages_.counters().metrics({}).at(0).value, 100 + 400, 1e-9);
  const std::vector<Detail> details = messages_.counters().details();
  ASSERT_EQ(details.size(), 2U);
  EXPECT_EQ(details[0].text, "Photos.samples");
  EXPECT_NEAR(details[0].share, 0.8, 1e-9);
}

TEST_F(MessagesTest, RequiresBothSidesForWorkerStarts) {
  count({{"startup.pickled_bytes", {4000, 2, {{"Photos.samples", 2}, {"Photos.a", 1}}}},
         {"startup.pickle_s", {0.2, 2}}});
  EXPECT_TRUE(messages_.counters().metrics({}).empty());
  member_.is_worker = true;
  for (const double imports : {1.0, 3.0}) {
    ++member_.pid;
    count({{"startup.imports_s", {imports, 1}}, {"startup.unpickle_s", {0.5, 1}}});
  }
  const std::vector<Metric> metrics = messages_.counters().metrics({});
  ASSERT_EQ(metrics.size(), 4U);
  EXPECT_EQ(metrics[0].value, 2000);
  EXPECT_NEAR(metrics[1].value, 0.1, 1e-12);
  EXPECT_NEAR(metrics[2].value, 2 - 0.1, 1e-12);
  EXPECT_NEAR(metrics[3].value, 0.5, 1e-12);
  member_.is_worker = false;
  count({{"startup.pickled_bytes", {4000, 2, {{"Other.samples", 1}}}}});  // another rank reports
  const char* const name = "startup.pickled_bytes";
  EXPECT_THAT(messages_.counters().details(),
              testing::ElementsAre(Detail{name, "Photos.samples", 0}, Detail{name, "Photos.a", 0}));
}

TEST_F(MessagesTest, KeepsFirstReportedMaker) {
  EXPECT_FALSE(messages_.maker());
  receive({{"what", "maker"}, {"place", "train.py:get_batch"}, {"measured", true}});
  receive({{"what", "maker"}, {"place", ""}, {"measured", false}});
  ASSERT_TRUE(messages_.maker());
  EXPECT_EQ(messages_.maker()->place, "train.py:get_batch");
  EXPECT_TRUE(messages_.maker()->measured);
}

TEST_F(MessagesTest, DetectsGpuUseInAnyProcess) {
  EXPECT_FALSE(messages_.uses_gpu());
  receive({{"what", "uses_gpu"}});
  EXPECT_TRUE(messages_.uses_gpu());
}

TEST_F(MessagesTest, LimitsNumberOfLoaderPackages) {
  nlohmann::json message = a_loader();
  EXPECT_TRUE(parse_loader_facts(message).made_by.empty());
  message["made_by"] = std::vector<std::string>(1000, std::string(5000, 'p'));
  message["data_of"] = {"datasets"};
  const LoaderFacts loader = parse_loader_facts(message);
  EXPECT_EQ(loader.made_by.size(), 16U);
  EXPECT_LT(loader.made_by.front().size(), 5000U);
  EXPECT_EQ(loader.data_of, std::vector<std::string>{"datasets"});
  message["data_of"] = {7};
  EXPECT_THROW(parse_loader_facts(message), nlohmann::json::exception);
}

TEST_F(MessagesTest, ReportsWrongDataOfMeasuredLoader) {
  receive(a_loader());
  for (const int epoch : {0, 1}) {
    receive({{"what", "order"},
             {"iterator", 0},
             {"generation", epoch},
             {"hash", "a"},
             {"shuffled", true}});
  }
  EXPECT_TRUE(messages_.faults(nullptr).metrics.empty());
  RunConfig config;
  const LoaderHistory measured(config, parse_loader_facts(a_loader()));
  ASSERT_EQ(messages_.faults(&measured).metrics.size(), 1U);
  EXPECT_EQ(messages_.faults(&measured).metrics.front().name, "data.repeated_orders");
}

TEST_F(MessagesTest, IgnoresImpossibleTimes) {
  count({{"decode", {3.0, 1, {{"imread", 3.0}, {"nonsense", -1e300}}}}});
  const std::vector<Detail> details = messages_.counters().details();
  ASSERT_EQ(details.size(), 1U);
  EXPECT_EQ(details.front().text, "imread");
  EXPECT_EQ(details.front().share, 1);
}

}  // namespace
}  // namespace loaderscope::guest
