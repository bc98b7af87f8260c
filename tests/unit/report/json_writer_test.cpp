#include "report/results.h"
#include "report/schemas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "loaderscope/settings.h"
#include "report/json_stream.h"
#include "report/writers.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::HasSubstr;

std::string record_json(const RunRecord& record) {
  std::ostringstream out;
  write_json(out, make_result(record, analysed(record)));
  return out.str();
}

TEST(JsonStream, KeepsSecondsExact) {
  EXPECT_EQ(seconds_text(2'560'000'000), "2.560000000");
  EXPECT_EQ(seconds_text(-1), "-0.000000001");
  EXPECT_EQ(seconds_text(0), "0.000000000");
  EXPECT_EQ(seconds_text(INT64_MAX), "9223372036.854775807");
  EXPECT_EQ(seconds_text(INT64_MIN), "-9223372036.854775808");
}

TEST(JsonStream, WritesBothLayouts) {
  std::ostringstream out;
  {
    JsonStream stream(out);
    stream.begin_object();
    stream.member("a", std::int64_t{1});
    stream.begin_object("b", JsonStream::Layout::compact);
    stream.member("c", true);
    stream.begin_array("d");
    stream.element(0.5);
    stream.element(Seconds{5});
    stream.end_array();
    stream.end_object();
    stream.begin_array("e");
    stream.end_array();
    stream.null("f");
    stream.end_object();
  }
  EXPECT_EQ(out.str(), R"({
  "a": 1,
  "b": {"c":true,"d":[0.5,0.000000005]},
  "e": [],
  "f": null
}
)");
}

TEST(JsonStream, WritesOnlyValidJson) {
  std::ostringstream out;
  {
    JsonStream stream(out);
    stream.begin_object();
    stream.member("nan", std::numeric_limits<double>::quiet_NaN());
    stream.member("inf", std::numeric_limits<double>::infinity());
    stream.member("minus_zero", -0.0);
    stream.member("url", "GET https://me:pw@host/a?sig=1&b=2");
    stream.member("text", "quote \" back \\ line \n bell \x07 bad \xff utf8 \u00e9");
    stream.end_object();
  }
  const nlohmann::json read = nlohmann::json::parse(out.str());
  EXPECT_TRUE(read["nan"].is_null());
  EXPECT_TRUE(read["inf"].is_null());
  EXPECT_THAT(out.str(), HasSubstr("\"minus_zero\": 0"));
  EXPECT_EQ(read["url"], "GET https://***@host/a?sig=***&b=2");
  EXPECT_EQ(read["text"], "quote \" back \\ line \n bell \x07 bad \xEF\xBF\xBD utf8 \u00e9");
}

TEST(Json, HoldsThePromisedPaths) {
  const nlohmann::json result = nlohmann::json::parse(record_json(full_record()));
  for (const char* path : {"/schema",
                           "/tool/version",
                           "/machine/cpu",
                           "/config/num_workers",
                           "/simulated",
                           "/engine",
                           "/ranks/0",
                           "/window/wall_s",
                           "/window/steps",
                           "/window/samples",
                           "/window/steady",
                           "/throughput/samples_per_s/mean",
                           "/throughput/samples_per_s/ci95/1",
                           "/throughput/read_bytes_per_s",
                           "/throughput/delivered_bytes_per_s",
                           "/device/busy",
                           "/device/busy_s",
                           "/device/idle_s",
                           "/device/ci95/0",
                           "/first_batch/wall_s",
                           "/first_batch/by_cause/decode",
                           "/epoch/predicted_s",
                           "/account/compute_s",
                           "/account/why/capacity_s",
                           "/account/why/depth_s",
                           "/account/why/latency_s",
                           "/account/why/epoch_s",
                           "/account/order_s",
                           "/account/clamped_s",
                           "/account/contention_known",
                           "/account/launch/launching_s",
                           "/account/launch/not_asking_s",
                           "/account/waiting_for_ranks_s",
                           "/verdict/bound_by",
                           "/verdict/severity",
                           "/verdict/sentence",
                           "/verdict/withheld_reason",
                           "/stages/decode/count",
                           "/stages/decode/wall_s",
                           "/stages/decode/cpu_s",
                           "/stages/decode/queued_s",
                           "/stages/decode/blocked_s",
                           "/stages/decode/mean_s",
                           "/stages/decode/p50_s",
                           "/stages/decode/p90_s",
                           "/stages/decode/p99_s",
                           "/stages/decode/p999_s",
                           "/stages/decode/max_s",
                           "/stages/decode/bytes",
                           "/queues/ready/mean_occupancy",
                           "/memory/pinned_bytes",
                           "/errors/skipped_samples",
                           "/errors/by_kind",
                           "/steps/43/compute_end_s",
                           "/exemplars/0",
                           "/notes/0",
                           "/lost_spans",
                           "/interrupted"}) {
    EXPECT_TRUE(result.contains(nlohmann::json::json_pointer(path))) << path;
  }
  EXPECT_EQ(result["account"]["stall_s"].size(), kCauses);
  EXPECT_FALSE(result["stages"].contains("pin"));  // did not run
  EXPECT_TRUE(result["findings"].is_array());
}

TEST(Json, WritesSettingsByTheirKind) {
  const nlohmann::json config = nlohmann::json::parse(record_json(full_record()))["config"];
  EXPECT_EQ(config["num_workers"], 2);
  EXPECT_EQ(config["in_order"], true);
  EXPECT_EQ(config["compute"], "25ms");
  EXPECT_TRUE(config["cost"].is_array());
  EXPECT_EQ(config.size(), fields().size());
}

TEST(Json, WritesNullBusyWithoutCompute) {
  const RunRecord record = make_run_record(4, 40, [](std::int64_t) {
    return make_step_plan(0, {{Cause::decode, kMillisecond}});
  });
  const nlohmann::json result = nlohmann::json::parse(record_json(record));
  EXPECT_TRUE(result["device"]["busy"].is_null());
  EXPECT_TRUE(result["ranks"][0]["busy"].is_null());
}

TEST(Json, TimesStepsRelativelyAndExactly) {
  const std::string text = record_json(usual_record());
  EXPECT_THAT(text, HasSubstr("\"first_ask_ns\": 5000000123"));
  EXPECT_THAT(text, HasSubstr("{\"rank\":0,\"step\":1,\"epoch\":0,\"worker\":1,\"samples\":16,"
                              "\"warmup\":true,\"first_of_epoch\":false,\"ask_s\":0.100000000,"));
  EXPECT_THAT(text, HasSubstr("\"stall_s\":{\"read\":0.015000000,\"decode\":0.060000000},\"why_s\":"
                              "{\"capacity\":0.075000000}}"));
}

TEST(Json, OmitsRowsFromAnswer) {
  std::ostringstream out;
  const RunRecord record = full_record();
  const Analysis analysis = analysed(record);
  write_json(out, default_answer(record, analysis));
  const nlohmann::json result = nlohmann::json::parse(out.str());
  EXPECT_TRUE(result.contains("verdict"));
  for (const char* key : {"ranks", "steps", "reservoir", "exemplars"})
    EXPECT_FALSE(result.contains(key));
}

TEST(JsonWriter, WritesKnownCeilings) {
  RunRecord record = usual_record();
  EXPECT_EQ(nlohmann::json::parse(record_json(record))["ceilings"].size(), 0u);
  record.metrics = {{"process.cpu_s", "s", "CPU time", 6.4}};  // 10 ms for each of 640 samples
  const nlohmann::json ceilings = nlohmann::json::parse(record_json(record))["ceilings"];
  EXPECT_NEAR(ceilings["cores"]["samples_per_s"].get<double>(), 400, 1e-9);
  EXPECT_NEAR(ceilings["cores"]["reached"].get<double>(), 0.4, 1e-9);
}

}  // namespace
}  // namespace loaderscope
