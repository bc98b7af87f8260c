#include "report/schemas.h"

#include <array>
#include <memory>

#include "report/describe.h"
#include "report/experiment_json.h"
#include "report/json_writer.h"
#include "report/kinds.h"
#include "report/results.h"
#include "report/saved.h"
#include "report/what_if_report.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

// Describes the members of a kind by showing an empty result.
template <class Result, void (*describe)(ResultVisitor&, Result&)>
void explain(ResultVisitor& form) {
  Result empty;
  describe(form, empty);
}

template <class Result, void (*describe)(ResultVisitor&, Result&)>
SavedResult read(ResultVisitor& form, const std::string& tool_version) {
  const auto result = std::make_shared<Result>();
  describe(form, *result);
  return {result, make_result(*result, tool_version)};
}

AnyResult shortened_run(const AnyResult& result) {
  return default_answer(*result.record, *result.analysis);
}

constexpr OwnWriters kRunWriters = {.csv = write_csv,
                                    .perfetto = write_perfetto,
                                    .chrome = write_chrome_trace,
                                    .markdown = summarize_run,
                                    .tests = requirement_tests,
                                    .circumstances = circumstances_of_run,
                                    .shortened = shortened_run};

constexpr OwnWriters kComparisonWriters = {.annotations = compare::write_comparison_annotations,
                                           .markdown = compare::summarize_comparison,
                                           .tests = compare::comparison_tests};

void explain_run(ResultVisitor& form) {
  RunRecord record;
  Analysis analysis;
  describe_run(form, record, analysis, JsonScope::full);
}

}  // namespace

void describe_tool(ResultVisitor& form, std::string& version) {
  form.object("tool", "what wrote it",
              [&] { form.text("version", version, "version of loaderscope"); });
}

std::span<const ResultKind> result_kinds() {
  static const std::array<ResultKind, 12> kinds = {{
      {{"run",
        "One run, with its answer and its data for later analyses. Save it with 'loaderscope run "
        "--json FILE'."},
       explain_run,
       nullptr,
       IntegerRange::kMax,
       kSteps,
       {},
       "a group of the numbers that metrics describes, such as memory",
       kRunWriters},
      {{"sweep", "A measured grid of settings. Save it with 'loaderscope sweep --json FILE'."},
       explain<Experiment, describe_sweep>,
       read<Experiment, describe_sweep>,
       kMaxOfRun,
       "cases"},
      {{"tune", "The setting to use: saved by 'loaderscope tune --json FILE'."},
       explain<Tune, describe_tune>,
       read<Tune, describe_tune>,
       kMaxOfRun,
       "cases"},
      {{"compare",
        "Two ways of running a job, as pairs of new processes. Save it with 'loaderscope compare "
        "--json FILE'."},
       explain<compare::Comparison, compare::describe_comparison>,
       read<compare::Comparison, compare::describe_comparison>,
       IntegerRange::kMax,
       "differences",
       {"differences", "verdict"},
       "",
       kComparisonWriters},
      {{"what-if",
        "What a run would be with other settings: saved by 'loaderscope what-if --json FILE'."},
       explain<WhatIf, describe_what_if>,
       read<WhatIf, describe_what_if>},
      {{"plan", "A measured run as a job of many ranks: saved by 'loaderscope plan --json FILE'."},
       explain<JobPlan, describe_plan>,
       read<JobPlan, describe_plan>,
       IntegerRange::kMax,
       "sizes"},
      {{"selftest",
        "Known delays injected into each stage, and the account's figures for them. Save it with "
        "'loaderscope selftest --json FILE'."},
       explain<selftest::Result, describe_selftest>,
       read<selftest::Result, describe_selftest>,
       IntegerRange::kMax,
       "stages",
       {"stages", "found"}},
      {{"probe",
        "Limits of a machine: storage, decoding, memory, processes and GPUs. Save it with "
        "'loaderscope probe --json FILE'."},
       explain<probe::Profile, probe::describe_profile>,
       read<probe::Profile, probe::describe_profile>},
      {{"probe-link",
        "Rate of copies to the GPU by batch size and kind of host memory. Save it with "
        "'loaderscope probe link --json FILE'."},
       explain<probe::LinkMatrix, probe::describe_link>,
       read<probe::LinkMatrix, probe::describe_link>,
       IntegerRange::kMax,
       "link"},
      {{"watch",
        "A running job seen from outside: activity of its processes, thresholds and its limit. "
        "Save it with 'loaderscope watch --json FILE'."},
       explain<watch::Watch, watch::describe_watch>,
       read<watch::Watch, watch::describe_watch>,
       IntegerRange::kMax,
       "processes",
       {"thresholds", "met"}},
      {{"dataset-info", "What is in a data set: printed by 'loaderscope data info --json'."},
       explain<dataset::DatasetInfo, dataset::describe_info>,
       read<dataset::DatasetInfo, dataset::describe_info>},
      {{"dataset-drift",
        "In what two data sets differ: printed by 'loaderscope data info A B --json'."},
       explain<dataset::Drift, dataset::describe_drift>,
       read<dataset::Drift, dataset::describe_drift>},
  }};
  return kinds;
}

std::string schema_name(std::string_view kind) { return "loaderscope." + std::string(kind) + "/1"; }

void write_json(std::ostream& out, const AnyResult& result) {
  JsonStream json(out);
  JsonWriter form(json);
  json.begin_object();
  json.member("schema", std::string_view(schema_name(result.kind)));
  std::string version = result.tool_version;
  describe_tool(form, version);
  result.describe(form);
  json.end_object();
}

}  // namespace loaderscope
