#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "loaderscope/errors.h"
#include "loaderscope/report.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/writers.h"
#include "unit/report/sample_record.h"
#include "unit/source/temp_folder.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string saved_json(const RunRecord& record, const std::optional<Proof>& proof = full_proof()) {
  std::ostringstream out;
  write_json(out, make_result(record, analysed(record, proof)));
  return out.str();
}

void expect_same_after_reading(const RunRecord& record,
                               const std::optional<Proof>& proof = full_proof()) {
  const std::string json = saved_json(record, proof);
  const SavedRun read = parse_result(json, "r.json");
  EXPECT_EQ(read.proof, proof);
  EXPECT_EQ(saved_json(read.record, read.proof), json);
  EXPECT_EQ(table_text(read.record), table_text(record));
}

// The message of the error that `text` gives.
std::string parse_error(const std::string& text) {
  try {
    parse_result(text, "r.json");
  } catch (const RunError& error) {
    return error.what();
  }
  return "no error";
}

// The usual result with one text replaced by another.
std::string error_after(const std::string& from, const std::string& to) {
  std::string json = saved_json(full_record());
  const auto at = json.find(from);
  EXPECT_NE(at, json.npos) << from;
  if (at != json.npos) json.replace(at, from.size(), to);
  return parse_error(json);
}

TEST(ReadResult, ReadsJoinOfMetrics) {
  RunRecord record = usual_record();
  record.metrics = {{"a.mean", "1", "", 1},
                    {"a.total", "1", "", 2, false, MetricJoin::sum},
                    {"a.memory", "bytes", "", 3, false, MetricJoin::sum_of_machine},
                    {"a.name", "1", "", 4, false, MetricJoin::same}};
  const std::vector<Metric> read = parse_result(saved_json(record), "r.json").record.metrics;
  ASSERT_EQ(read.size(), record.metrics.size());
  for (std::size_t i = 0; i < read.size(); ++i)
    EXPECT_EQ(read[i].joined, record.metrics[i].joined) << read[i].name;
}

TEST(ReadResult, GivesBackWhatWasWritten) {
  expect_same_after_reading(usual_record());
  expect_same_after_reading(full_record());
  expect_same_after_reading(two_ranks());
  expect_same_after_reading(make_run_record(4, 0, usual_step));
  expect_same_after_reading(RunRecord{});
  RunRecord interrupted = full_record();
  interrupted.interrupted = true;
  interrupted.contention_known = false;
  interrupted.lost_spans = 3;
  interrupted.metrics.push_back({"memory.unknown", "1", "", NAN});
  expect_same_after_reading(interrupted);
}

TEST(ReadResult, GivesBackSettingsAndWhichWereGiven) {
  RunRecord record = full_record();
  record.config.declared.cost.set(
      {parse_cost("decode=8ms"), parse_cost("read=lognormal:5ms:0.8:sleep")});
  record.config.declared.inject.set({parse_injection("read=+150ms@p=0.01")});
  record.config.loader.in_order.set(false);
  record.config.trainer.demand.set(1786.5);
  record.config.answer.require.set({"device.busy >= 0.85"});
  const RunConfig read = parse_result(saved_json(record), "r.json").record.config;
  EXPECT_EQ(read.declared.cost.value.size(), 2u);
  EXPECT_FALSE(read.loader.in_order.value);
  EXPECT_EQ(read.trainer.demand.value, 1786.5);
  EXPECT_TRUE(read.loader.num_workers.given);
  EXPECT_FALSE(read.loader.prefetch_factor.given);
  EXPECT_FALSE(read.declared.cores.given);
  EXPECT_EQ(read.declared.cores.value, 4);
  expect_same_after_reading(record);
}

TEST(ReadResult, GivesBackRowsAndExemplars) {
  const RunRecord written = full_record();
  const RunRecord read = parse_result(saved_json(written), "r.json").record;
  const RankRecord& rank = read.ranks.at(0);
  EXPECT_EQ(rank.rows.size(), 44);
  EXPECT_EQ(rank.rows.back().compute_end, written.ranks[0].rows.back().compute_end);
  ASSERT_EQ(rank.exemplars.size(), 1u);
  const Exemplar& a = written.ranks[0].exemplars[0];
  const Exemplar& b = rank.exemplars[0];
  EXPECT_EQ(b.row.compute_end, a.row.compute_end);
  EXPECT_EQ(b.events.dispatched, a.events.dispatched);
  EXPECT_EQ(b.events.compute.end, a.events.compute.end);
  EXPECT_FALSE(b.events.copy.ran());
  EXPECT_EQ(b.spans.at(0).second.end, a.spans.at(0).second.end);
  EXPECT_EQ(b.spans.at(0).second.stage, Stage::decode);
  EXPECT_EQ(rank.reservoir, written.ranks[0].reservoir);
  EXPECT_EQ(rank.reservoir[1].samples(), 16);
}

TEST(ReadResult, RefusesWhatIsNoResult) {
  EXPECT_THAT(parse_error(""), HasSubstr("the file is empty"));
  EXPECT_THAT(parse_error("hello"), HasSubstr("not JSON"));
  EXPECT_THAT(parse_error("[]"), HasSubstr("has no 'schema'"));
  EXPECT_THAT(parse_error("3"), HasSubstr("has no 'schema'"));
  EXPECT_THAT(parse_error(R"({"name":"x","steps":[1,2]})"), HasSubstr("has no 'schema'"));
  EXPECT_THAT(parse_error(R"({"schema":7})"), HasSubstr("schema is not a text"));
  EXPECT_THAT(parse_error(R"({"schema":"nvbench/1"})"), HasSubstr("its schema is 'nvbench/1'"));
  EXPECT_THAT(parse_error(R"({"schema":"loaderscope.run/2"})"),
              HasSubstr("use the loaderscope that wrote it"));
  EXPECT_THAT(parse_error(R"({"schema":"loaderscope.run/1"})"), HasSubstr("has no 'tool'"));
  EXPECT_THAT(parse_error(std::string(100'000, '[')), HasSubstr("nested deeper"));
}

// Python's json gives small numbers an exponent, and with sort_keys another order.
TEST(ReadResult, ReadsWhatAnotherProgramHasWrittenAgain) {
  for (const RunRecord& record : {full_record(), two_ranks()}) {
    const std::string json = saved_json(record);
    const std::string sorted = nlohmann::json::parse(json).dump();
    ASSERT_LT(sorted.find("\"ranks\""), sorted.find("\"schema\""));
    EXPECT_EQ(nlohmann::json::parse(saved_json(parse_result(sorted, "r.json").record)),
              nlohmann::json::parse(json));
    const std::string indented = nlohmann::ordered_json::parse(json).dump(4);
    EXPECT_EQ(saved_json(parse_result(indented, "r.json").record), json);
  }
}

TEST(ReadResult, ReadsTimesWithAnExponent) {
  RunRecord record = full_record();
  record.before_first_ask = {{"index", 5}};
  std::string json = saved_json(record);
  const std::string time = "\"before_first_ask\": {\n";
  ASSERT_NE(json.find(time), json.npos);
  json.insert(json.find(time) + time.size(),
              "\"a\": 8.7e-05, \"b\": 1.25E+1, \"c\": 3e-9, \"d\": 1.0000000000,");
  const auto before = parse_result(json, "r.json").record.before_first_ask;
  ASSERT_GE(before.size(), 4U);
  EXPECT_EQ(before[0].second, 87'000);
  EXPECT_EQ(before[1].second, 12'500'000'000);
  EXPECT_EQ(before[2].second, 3);
  EXPECT_EQ(before[3].second, kSecond);
  for (const std::string wrong : {"1e-10", "1.5e-9", "1e300", "1e-99999999999", "1e99999999999"}) {
    std::string damaged = json;
    damaged.replace(damaged.find("8.7e-05"), 7, wrong);
    EXPECT_NE(parse_error(damaged), "no error") << wrong;
  }
}

TEST(ReadResult, RefusesAFileThatIsCutOff) {
  const std::string json = saved_json(full_record());
  for (std::size_t size : {std::size_t{30}, json.size() / 3, json.size() / 2, json.size() - 3}) {
    EXPECT_THAT(parse_error(json.substr(0, size)), HasSubstr("r.json: the file is cut off at byte"))
        << size;
  }
}

TEST(ReadResult, RefusesWrongTypes) {
  EXPECT_THAT(error_after("\"simulated\": true", "\"simulated\": 1"),
              HasSubstr("simulated is neither true nor false"));
  EXPECT_THAT(error_after("\"first_ask_ns\": 5000000123", "\"first_ask_ns\": \"x\""),
              HasSubstr("ranks[0].first_ask_ns is not a whole number"));
  EXPECT_THAT(error_after("\"ask_s\":0.000000000", "\"ask_s\":[]"),
              HasSubstr("steps[0].ask_s is not a number of seconds"));
  EXPECT_THAT(error_after("\"num_workers\": 2", "\"num_workers\": \"many\""),
              HasSubstr("config: num-workers"));
  EXPECT_THAT(error_after("\"num_workers\": 2", "\"num_workers\": {}"),
              HasSubstr("is no value of a setting"));
  EXPECT_THAT(error_after("\"stall_s\":{\"read\"", "\"stall_s\":{\"raed\""),
              HasSubstr("unknown entry 'raed'"));
}

TEST(ReadResult, RefusesAbsurdNumbers) {
  EXPECT_THAT(error_after("\"lost_spans\": 0", "\"lost_spans\": -1"),
              HasSubstr("lost_spans is -1"));
  EXPECT_THAT(error_after("\"lost_spans\": 0", "\"lost_spans\": 1e300"),
              HasSubstr("is not a whole number"));
  EXPECT_THAT(error_after("\"lost_spans\": 0", "\"lost_spans\": 1e999"), HasSubstr("is too large"));
  EXPECT_THAT(error_after("\"ask_s\":0.000000000", "\"ask_s\":1e300"), HasSubstr("steps[0].ask_s"));
  EXPECT_THAT(error_after("\"ask_s\":0.000000000", "\"ask_s\":0.0000000001"),
              HasSubstr("at most nine decimals"));
  EXPECT_THAT(error_after("\"first_ask_ns\": 5000000123", "\"first_ask_ns\": 18446744073709551615"),
              HasSubstr("is not a whole number"));
  EXPECT_THAT(error_after("\"warmup_steps\": 4", "\"warmup_steps\": 1000000000000"),
              HasSubstr("and 'steps' holds 44"));
  EXPECT_THAT(error_after("[[", "[[2000000000,1,1],["), HasSubstr("buckets[0]"));
}

TEST(ReadResult, RefusesWhatContradictsItself) {
  EXPECT_THAT(error_after("\"decode\":0.060000000},\"why_s\"", "\"decode\":0.050000000},\"why_s\""),
              HasSubstr("steps[0] books 65000000 ns of 75000000 ns of idle time to causes"));
  EXPECT_THAT(error_after("\"why_s\":{\"capacity\":0.075", "\"why_s\":{\"epoch\":0.075"),
              "no error");
  EXPECT_THAT(error_after("\"step\":7,", "\"step\":8,"),
              HasSubstr("is step 8 where step 7 is due"));
  EXPECT_THAT(error_after("\"idle_begin_s\":0.100000000", "\"idle_begin_s\":0.100000001"),
              HasSubstr("does not begin where the step before it ends"));
  EXPECT_THAT(error_after("\"compute_s\": 1.000000000", "\"compute_s\": 1.000000001"),
              HasSubstr("account.compute_s is not the 1.000000000 s that the steps add up to"));
  EXPECT_THAT(
      error_after("\"count\": 640,\n          \"wall_s\"", "\"count\": 641,\n          \"wall_s\""),
      HasSubstr("buckets that hold 640 executions where the stage has 641"));
  EXPECT_THAT(error_after("{\"rank\":0,\"step\":3,\"worst\"", "{\"rank\":0,\"step\":99,\"worst\""),
              HasSubstr("step 99, which is not among the steps"));
  EXPECT_THAT(error_after("{\"rank\":0,\"step\":3,\"worst\"", "{\"rank\":1,\"step\":3,\"worst\""),
              HasSubstr("exemplars[0].rank is 1, and there are 1 ranks"));
  EXPECT_THAT(error_after("\"begin_s\": 0.400000000", "\"begin_s\": 0.500000000"),
              HasSubstr("does not begin with the window"));
  EXPECT_THAT(error_after("\"end_s\": 4.400000000", "\"end_s\": 4.500000000"),
              HasSubstr("does not end with its last step"));
}

// All batches of the result are made on the device, and late.
RunRecord record_made_on_device() {
  RunRecord record = full_record();
  RankRecord& rank = record.ranks[0];
  StepRows rows;
  rank.rows.for_each([&](StepRow row) {
    row.device = {row.stall[Cause::decode] / 2, 0, 1000, 2000};
    row.made_end = row.compute_begin - 500;
    rows.push_back(row);
  });
  rank.rows = std::move(rows);
  Exemplar& exemplar = rank.exemplars[0];
  exemplar.row.device = {exemplar.row.stall[Cause::decode] / 2, 0, 1000, 2000};
  exemplar.row.made_end = exemplar.row.compute_begin - 500;
  StepEvents& events = exemplar.events;
  events.handed = kFirstAsk + 10;
  events.submitted = kFirstAsk + 40;
  events.slot_wait = 3;
  events.copied_bytes = 7;
  events.made_count = 2;
  events.made[0] = {Stage::gpu_decode,
                    Lane::decode,
                    {kFirstAsk + 11, kFirstAsk + 13, 1, 1},
                    {kFirstAsk + 14, kFirstAsk + 20}};
  events.made[1] = {Stage::gpu_augment,
                    Lane::work,
                    {kFirstAsk + 13, kFirstAsk + 15},
                    {kFirstAsk + 20, kFirstAsk + 30}};
  return record;
}

TEST(ReadResult, GivesBackProductionOnDevice) {
  const RunRecord written = record_made_on_device();
  expect_same_after_reading(written);
  const RunRecord read = parse_result(saved_json(written), "r.json").record;
  EXPECT_EQ(read.ranks[0].rows.back(), written.ranks[0].rows.back());
  EXPECT_GT(read.ranks[0].rows.back().device.decode, 0);
  const StepEvents &a = written.ranks[0].exemplars[0].events,
                   &b = read.ranks[0].exemplars[0].events;
  EXPECT_EQ(b.made_count, 2);
  EXPECT_EQ(b.made, a.made);
  EXPECT_EQ(b.handed, a.handed);
  EXPECT_EQ(b.copied_bytes, 7);
}

TEST(ReadResult, RefusesMoreProductionOnDeviceThanStall) {
  RunRecord record = record_made_on_device();
  StepRows rows;
  record.ranks[0].rows.for_each([&](StepRow row) {
    if (row.step == 10) row.device.decode = row.stall[Cause::decode] + 1;
    rows.push_back(row);
  });
  record.ranks[0].rows = std::move(rows);
  EXPECT_THAT(parse_error(saved_json(record)),
              HasSubstr("has more in on_device_s or lane_wait_s than in its stall"));
}

TEST(ReadResult, RefusesMoreTasksOfDeviceThanABatchHas) {
  std::string json = saved_json(record_made_on_device());
  const std::string task = R"(["gpu-decode","decode",11,13,1,1,14,20],)";
  const auto at = json.find(task);
  ASSERT_NE(at, json.npos);
  for (int i = 0; i < 6; ++i) json.insert(at, task);
  EXPECT_THAT(parse_error(json), HasSubstr("has 8 tasks, and a batch has at most 6"));
}

// 2^64 ranks more than there are: a sum in 64 bits would be right.
TEST(ReadResult, RefusesHostsWithMoreRanksThanCanBeCounted) {
  RunRecord record = usual_record();
  while (record.ranks.size() < 17) record.ranks.push_back(make_rank_record(4, 40, usual_step));
  record.hosts.resize(17);
  for (HostRecord& host : record.hosts) host.ranks = 1;
  auto json = nlohmann::ordered_json::parse(saved_json(record));
  EXPECT_EQ(parse_error(json.dump()), "no error");
  for (auto& host : json["hosts"]) host["ranks"] = std::int64_t{1} << 60;
  json["hosts"][0]["ranks"] = 17;
  EXPECT_THAT(parse_error(json.dump()), HasSubstr("ranks together and 'ranks' holds 17"));
}

TEST(ReadResult, GivesBackWhatFactsAreCalled) {
  const RunRecord read = parse_result(saved_json(full_record()), "r.json").record;
  EXPECT_EQ(read.details, full_record().details);
}

TEST(ReadResult, ToleratesWhatALaterVersionAdds) {
  EXPECT_EQ(error_after("\"lost_spans\": 0",
                        "\"lost_spans\": 0, \"findings\": [{\"id\": \"decode-bound\"}]"),
            "no error");
}

TEST(ReadResult, NamesTheFileAndTheNextStep) {
  const auto error_of_file = [](const std::string& path) -> std::string {
    try {
      read_result(path);
    } catch (const RunError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of_file("/nowhere/r.json"),
              AllOf(StartsWith("/nowhere/r.json: there is no such file; give")));
  EXPECT_THAT(error_of_file("/tmp"), HasSubstr("a folder, not a file"));
  EXPECT_THAT(error_of_file("/dev/null"), HasSubstr("the file is empty"));
}

TEST(ReadResult, ReadsAFile) {
  const source::TempFolder folder;
  const std::string path = folder.write("r.json", saved_json(full_record()));
  EXPECT_EQ(saved_json(read_result(path).record), saved_json(full_record()));
}

TEST(ReadResult, GivesBackEveryProof) {
  const RunRecord record = full_record();
  Proof proof = full_proof();
  expect_same_after_reading(record, proof);
  proof.asked = Prove::all;
  proof.interrupted = true;
  expect_same_after_reading(record, proof);
  expect_same_after_reading(record, std::nullopt);
  proof = Proof{};
  proof.reason = "the verdict is withheld: not steady";
  expect_same_after_reading(record, proof);
  EXPECT_THAT(table_text(record, {}, proof),
              HasSubstr("Nothing was proved: the verdict is withheld: not steady\n"));
}

TEST(ReadResult, RefusesAProofThatIsNone) {
  EXPECT_THAT(error_after("\"asked\": \"blamed\"", "\"asked\": \"no\""),
              HasSubstr("proof.asked is none of off, blamed"));
  EXPECT_THAT(error_after("\"knocked_out\": [\"decode\"]", "\"knocked_out\": [\"decoding\"]"),
              HasSubstr("proof.cases[0].knocked_out[0] is none of read, "));
  EXPECT_THAT(error_after("prefetch-factor=8", "prefetch=many"),
              HasSubstr("proof.cases[1].changes has something that is no setting"));
  EXPECT_THAT(error_after("\"busy\":0.2475", "\"busy\":1.5"), HasSubstr("is more than 1"));
}

}  // namespace
}  // namespace loaderscope
