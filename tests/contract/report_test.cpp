// What every row of report_table() promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "analysis/fit/fitted_model.h"
#include "engine/model/model_engine.h"
#include "loaderscope/engine.h"
#include "loaderscope/findings.h"
#include "loaderscope/report.h"
#include "loaderscope/settings.h"
#include "report/kinds.h"
#include "report/results.h"
#include "report/schemas.h"
#include "report/what_if_report.h"
#include "unit/experiment/model_context.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;

std::string written(const ReportRow& row, const RunRecord& record,
                    const std::optional<Proof>& proof = full_proof()) {
  std::ostringstream out;
  const Analysis analysis = analysed(record, proof);
  row.write(out, result_of(record, analysis), ReportStyle{});
  return out.str();
}

TEST(ReportContract, NamesAreUniqueAndHelpIsOneSentence) {
  std::set<std::string_view> names;
  for (const ReportRow& row : report_table()) {
    EXPECT_TRUE(names.insert(row.row.name).second) << row.row.name;
    EXPECT_TRUE(row.row.help.ends_with('.')) << row.row.name;
    for (const std::string_view kind : row.kinds) EXPECT_NO_THROW(find_row(kind, result_kinds()));
    EXPECT_EQ(row.row.reason_not_available(), std::nullopt);
  }
}

TEST(ReportContract, EveryWriterWritesEveryRecordAlikeEachTimeAndEndsItsLastLine) {
  for (const ReportRow& row : report_table()) {
    if (!row.writes("run")) continue;
    for (const RunRecord& record :
         {usual_record(), full_record(), two_ranks(), record_of(0, 0, usual_step)}) {
      const std::string text = written(row, record);
      EXPECT_FALSE(text.empty()) << row.row.name;
      if (row.is_text) {
        EXPECT_EQ(text.back(), '\n') << row.row.name;
      }
      EXPECT_EQ(text, written(row, record)) << row.row.name;
    }
    EXPECT_NO_THROW(written(row, RunRecord{})) << row.row.name;
  }
}

TEST(ReportContract, ReadingAndWritingAgainGivesTheSameReports) {
  const ReportRow& json = find_row("json", report_table());
  for (const ReportRow& row : report_table()) {
    if (!row.writes("run")) continue;
    for (const RunRecord& record : {full_record(), two_ranks()}) {
      const SavedRun read = parse_result(written(json, record), "r");
      EXPECT_EQ(written(row, read.record, read.proof), written(row, record)) << row.row.name;
    }
  }
}

bool python_has_jsonschema(const std::string& python) {
  return std::system((python + " -c 'import jsonschema' > /dev/null 2>&1").c_str()) == 0;
}

// A python with jsonschema; "" where there is none.
std::string schema_python() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    if (python_has_jsonschema(python)) return python;
  }
  return "";
}

void expect_valid(const std::string& json, const std::string& schema_name) {
  const std::string path =
      testing::TempDir() + "loaderscope_schema_test." + std::to_string(::getpid()) + ".json";
  const std::string schema = std::string(LOADERSCOPE_SOURCE_DIR) + "/reports/" + schema_name;
  std::ofstream(path) << json;
  const std::string check =
      schema_python() + " -W ignore -m jsonschema -i '" + path + "' '" + schema + "' 2>&1";
  EXPECT_EQ(std::system(check.c_str()), 0);
  std::remove(path.c_str());
}

TEST(ReportContract, TheSchemaOfEveryKindStandsInReports) {
  std::set<std::string_view> names;
  for (const ResultKind& kind : result_kinds()) {
    const std::string name(kind.row.name);
    EXPECT_TRUE(names.insert(kind.row.name).second) << name;
    const std::string file = "reports/" + name + ".schema.json";
    std::ifstream in(std::string(LOADERSCOPE_SOURCE_DIR) + "/" + file);
    std::ostringstream there, generated;
    there << in.rdbuf();
    write_schema(generated, kind);
    EXPECT_TRUE(there.str() == generated.str())
        << file << " is another; run loaderscope report --schema " << name << " > " << file;
  }
}

TEST(ReportContract, TheJsonIsWhatItsSchemaSays) {
  if (schema_python().empty())
    GTEST_SKIP() << "python3-jsonschema is missing; scripts/install-deps test";
  for (const RunRecord& record :
       {full_record(), two_ranks(), record_of(0, 0, usual_step), RunRecord{}}) {
    expect_valid(written(find_row("json", report_table()), record), "run.schema.json");
  }
}

TEST(ReportContract, FindingsAndWhatIfAreWhatTheirSchemasSay) {
  if (schema_python().empty())
    GTEST_SKIP() << "python3-jsonschema is missing; scripts/install-deps test";
  RunConfig config;
  parse_scenario(
      "engine = model\nworkers = 1\ncores = 4\ncompute = 1ms\ncost = decode=1ms\n"
      "batch = 2\nsteps = 50\ngpu-price = 2.5",
      "test", config);
  std::vector<std::string> notes;
  const RunRecord record = run_engine(resolve(config, {4}, notes), {});
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  ASSERT_FALSE(analysis.findings.empty());
  std::ostringstream run, answer;
  find_row("json", report_table()).write(run, result_of(record, analysis), ReportStyle{});
  expect_valid(run.str(), "run.schema.json");

  const FittedModel model(record);
  WhatIf what_if;
  what_if.changes = {{"workers", "2"}};
  what_if.fitted = case_of("fitted", model.fitted());
  what_if.predicted = case_of("predicted", model.predict(what_if.changes));
  what_if.measured = what_if.verified = case_of("measured", analysis);
  what_if.fit = analysis.fit;
  write_json(answer, result_of(what_if, "1.0"));
  expect_valid(answer.str(), "what-if.schema.json");
}

// Where the model misses the run there is no figure that somebody could quote.
TEST(ReportContract, WhatCannotBePredictedIsNull) {
  if (schema_python().empty())
    GTEST_SKIP() << "python3-jsonschema is missing; scripts/install-deps test";
  RunConfig config;
  parse_scenario(
      "engine = model\nworkers = 1\ncores = 4\ncompute = 1ms\ncost = decode=1ms\n"
      "batch = 2\nsteps = 50",
      "test", config);
  std::vector<std::string> notes;
  const RunRecord record = run_engine(resolve(config, {4}, notes), {});
  Analysis analysis = analyse(record);
  add_findings(analysis, record);
  ASSERT_FALSE(analysis.findings.empty());
  analysis.fit->rate_error = 0.49;
  analysis.findings = find_directions(record, analysis);
  std::ostringstream run, answer;
  find_row("json", report_table()).write(run, result_of(record, analysis), ReportStyle{});
  expect_valid(run.str(), "run.schema.json");
  EXPECT_NE(run.str().find("\"predicted\": null"), std::string::npos);
  EXPECT_NE(run.str().find("\"regained_s\": null"), std::string::npos);
  WhatIf what_if;
  what_if.fitted = case_of("fitted", FittedModel(record).fitted());
  what_if.measured = case_of("measured", analysis);
  what_if.fit = analysis.fit;
  write_json(answer, result_of(what_if, "1.0"));
  expect_valid(answer.str(), "what-if.schema.json");
  EXPECT_NE(answer.str().find("\"gain\": null"), std::string::npos);
}

TEST(ReportContract, TheSelftestIsWhatItsSchemaSays) {
  if (schema_python().empty())
    GTEST_SKIP() << "python3-jsonschema is missing; scripts/install-deps test";
  RunConfig config;
  config.engine.set("model");
  const auto trials = selftest::make_trials(config, MachineLimits{2});
  selftest::World world;
  world.run = [](const RunConfig& of) { return run_model(of, {}); };
  world.now = [] { return Nanos{0}; };
  for (const selftest::Result& result :
       {run_selftest(trials, {.rounds = 2}, world), selftest::Result{}}) {
    std::ostringstream out;
    write_json(out, result_of(result, "1.0"));
    expect_valid(out.str(), "selftest.schema.json");
  }
}

TEST(ReportContract, ProbeAndDatasetInfoAreWhatTheirSchemasSay) {
  if (schema_python().empty())
    GTEST_SKIP() << "python3-jsonschema is missing; scripts/install-deps test";
  probe::LinkMatrix matrix;
  matrix.gpu = "Pretender 0";
  matrix.bare = {{1 << 20, 25e9}};
  matrix.cells = {{.bytes = 1 << 20, .median = 24e9, .low = 23e9, .high = 25e9, .fallback = ""},
                  {.bytes = 1 << 22, .fallback = "may not be locked"}};
  for (const probe::LinkMatrix& each : {matrix, probe::LinkMatrix{}}) {
    std::ostringstream out;
    write_json(out, result_of(each, "1.0"));
    expect_valid(out.str(), "probe-link.schema.json");
  }
  probe::Profile profile;
  profile.host = "node";
  profile.probes = {{"decode", {}}};
  probe::Outcome& outcome = profile.probes.front().second;
  outcome.figures = {{"per_core", "1/s", 1000, 0.01, "110 kB", "decoded", 1}};
  outcome.ceilings = {{.per_s = 1000, .per_core_s = 1000}};
  outcome.facts = {{"kind", "NVMe"}};
  judge_demand(profile, {100, 1 << 20, 64, 1});
  judge_against(profile, {profile, profile, profile});
  for (const probe::Profile& each : {profile, probe::Profile{}}) {
    std::ostringstream out;
    write_json(out, result_of(each, "1.0"));
    expect_valid(out.str(), "probe.schema.json");
  }
  dataset::DatasetInfo info;
  info.widths.add(64);
  info.formats["jpeg"] = info.subsamplings["420"] = info.classes["cat"] = 1;
  info.name_damaged({"cat/cut.jpg", "ends early"});
  for (const dataset::DatasetInfo& each : {info, dataset::DatasetInfo{}}) {
    std::ostringstream out;
    write_json(out, result_of(each, "1.0"));
    expect_valid(out.str(), "dataset-info.schema.json");
    std::ostringstream drift;
    write_json(drift, result_of(dataset::drift_between(each, info), "1.0"));
    expect_valid(drift.str(), "dataset-drift.schema.json");
  }
}

TEST(ReportContract, AWatchedJobIsWhatItsSchemaSays) {
  if (schema_python().empty())
    GTEST_SKIP() << "python3-jsonschema is missing; scripts/install-deps test";
  watch::Watch full;
  full.processes.resize(2);
  full.processes[0].growth_per_s = 1.5;
  full.gpus = {{"GPU", 0.5, 1e9, 2e9, true}};
  full.machine.others = {{"cc1plus", 1.5}};
  full.machine.quota = 2;
  full.stands = {"standing for 12 s"};
  full.unseen = full.notes = {"this"};
  judge(full);
  for (const watch::Watch& each : {full, watch::Watch{}}) {
    std::ostringstream out;
    write_json(out, result_of(each, "1.0"));
    expect_valid(out.str(), "watch.schema.json");
  }
}

TEST(ReportContract, SweepAndTuneAreWhatTheirSchemasSay) {
  if (schema_python().empty())
    GTEST_SKIP() << "python3-jsonschema is missing; scripts/install-deps test";
  const RunConfig base = scenario(
      "cost = decode=8ms\ncompute = 12ms\nbatch = 4\ncores = 4\n"
      "samples = 1000\ndrop-last = true");
  const std::vector<std::string> axes = {"workers=0,2,3", "prefetch=1,2", "batch=4,2000"};
  Experiment experiment = plan(base, axes);
  for (const bool has_run : {false, true}) {
    if (has_run) run_sweep(experiment, model_context(), {});
    std::ostringstream sweep;
    write_json(sweep, result_of(experiment, "1.0"));
    expect_valid(sweep.str(), "sweep.schema.json");
  }
  for (const bool has_run : {false, true}) {
    ExperimentContext context = model_context();
    if (!has_run) context.stopped = [] { return true; };
    std::ostringstream answer;
    write_json(answer, result_of(tune(plan(base, axes), context, {}), "1.0"));
    expect_valid(answer.str(), "tune.schema.json");
  }
}

}  // namespace
}  // namespace loaderscope
