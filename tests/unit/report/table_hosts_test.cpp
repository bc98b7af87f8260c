// Jobs on several hosts, as a table and in the JSON of a result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "loaderscope/errors.h"
#include "loaderscope/report.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/writers.h"
#include "unit/report/page_figures.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string json_text(const RunRecord& record) {
  std::ostringstream out;
  write_json(out, make_result(record, analysed(record, {})));
  return out.str();
}

// Two hosts with one rank each. Rank 0 of the record waits 5 ms of each step for rank 1.
RunRecord two_hosts() {
  RunRecord record = two_ranks();
  for (const char* name : {"node0", "node1"}) {
    HostRecord host;
    host.machine = record.machine;
    host.machine.host = name;
    host.ranks = 1;
    host.metrics = {{"process.cpu_s", "s", "CPU time", 3}};
    record.hosts.push_back(std::move(host));
  }
  record.hosts[1].clock_offset = -5 * kMillisecond;
  record.hosts[1].clock_error = 2 * kMicrosecond;
  record.hosts[1].ended_early = "killed";
  return record;
}

TEST(HostTable, NamesLimitingHostFirst) {
  const std::string table = table_text(two_hosts());
  EXPECT_THAT(table,
              HasSubstr("2 hosts, of which node1 is the slowest: it waits mostly for decode"));
  EXPECT_THAT(table, HasSubstr("  node1      1        160  30.0 %     70.0 %       0.0 %"));
  EXPECT_LT(table.find("  node1  "), table.find("  node0  "));
  EXPECT_THAT(table, Not(HasSubstr("Next: ")));
  EXPECT_THAT(table_text(two_ranks()), Not(HasSubstr("host")));
}

TEST(HostTable, ReportsAccuracyOfClocks) {
  RunRecord record = two_hosts();
  EXPECT_THAT(table_text(record), Not(HasSubstr("clocks of the hosts")));  // one is not known
  record.hosts[0].clock_offset = record.hosts[0].clock_error = 0;
  record.hosts[1].metrics.push_back({"clock.drift_s", "s", "drift", -1e-6});
  EXPECT_THAT(table_text(record),
              HasSubstr("clocks of the hosts: up to 5.000 ms apart, known to within 2.000 us, "
                        "drifted by up to 1.000 us\n"));
}

TEST(HostTable, ShowsWorstOfManyHostsAndSpread) {
  RunRecord record = usual_record();
  record.ranks.clear();
  for (int i = 0; i < 200; ++i) {
    const Nanos compute = (20 + i % 40) * kMillisecond;
    record.ranks.push_back(make_rank_record(4, 40, [=](std::int64_t) {
      return make_step_plan(compute, {{Cause::decode, 80 * kMillisecond}});
    }));
    HostRecord host;
    host.machine.host = "node" + std::to_string(i);
    host.ranks = 1;
    record.hosts.push_back(std::move(host));
  }
  const std::string table = table_text(record);
  EXPECT_THAT(table, AllOf(HasSubstr("200 hosts"), HasSubstr("  least "), HasSubstr("  half "),
                           HasSubstr("  most "), HasSubstr("node39 "), Not(HasSubstr("node0 "))));
  EXPECT_THAT(table, HasSubstr("these are the slowest; the other 190 ranks are in the result"));
  EXPECT_LT(std::count(table.begin(), table.end(), '\n'), 100);
}

TEST(HostPage, DrawsOwnWaitsAndWaitsForOtherHosts) {
  std::ostringstream out;
  const RunRecord record = two_hosts();
  write_page(out, make_result(record, analysed(record, {})));
  const std::string page = out.str();
  const nlohmann::json result = result_carried_by(page);
  std::size_t drawn = 0;
  for (const PageFigure& figure : find_figures(page)) {
    if (!figure.path.starts_with("hosts.")) continue;
    EXPECT_NEAR(figure.value, value_at(result, figure.path), 1e-9) << figure.path;
    ++drawn;
  }
  EXPECT_EQ(drawn, 5u);  // node1 waits for no other host
  EXPECT_LT(page.find(">node1</span>"), page.find(">node0</span>"));
  EXPECT_THAT(page, HasSubstr(">1 rank, 160/s</span>"));
}

TEST(HostJson, ReadsHostsBack) {
  const RunRecord record = two_hosts();
  const std::string text = json_text(record);
  const RunRecord read = parse_result(text, "r.json").record;
  ASSERT_EQ(read.hosts.size(), 2u);
  EXPECT_EQ(read.hosts[1].machine.host, "node1");
  EXPECT_EQ(read.hosts[1].clock_offset, -5 * kMillisecond);
  EXPECT_EQ(read.hosts[1].clock_error, 2 * kMicrosecond);
  EXPECT_EQ(read.hosts[1].ended_early, "killed");
  EXPECT_FALSE(read.hosts[0].has_clock());
  EXPECT_EQ(value_of(read.hosts[0].metrics, "process.cpu_s"), 3);
  EXPECT_EQ(json_text(read), text);
  const nlohmann::json pace = nlohmann::json::parse(text).at("hosts")[0].at("pace");
  EXPECT_EQ(pace.at("samples_per_s"), 160);
  EXPECT_DOUBLE_EQ(pace.at("waits_for_ranks"), 0.05);
}

TEST(HostJson, RejectsHostsWithWrongRanks) {
  RunRecord record = two_hosts();
  const std::string text = json_text(record);
  for (const std::int64_t ranks : {3, 1 << 30}) {
    nlohmann::json changed = nlohmann::json::parse(text);
    changed["hosts"][0]["ranks"] = ranks;
    try {
      parse_result(changed.dump(), "r.json");
      ADD_FAILURE() << "it is read";
    } catch (const RunError& error) {
      EXPECT_THAT(error.what(), HasSubstr("'ranks' holds 2; merge the records of its hosts again"));
    }
  }
}

}  // namespace
}  // namespace loaderscope
