#include "report/results.h"

#include "report/answer/answers.h"
#include "report/describe.h"
#include "report/kinds.h"
#include "report/schemas.h"
#include "report/text_report.h"
#include "report/writers.h"

#include <type_traits>

namespace loaderscope {
namespace {

template <class T>
using WriteText = void (*)(TextReport& reading, const T& result, const ReportStyle& style);

template <class T>
using Draw = std::string (*)(const T& result);

template <class T>
using MakeAnswer = Answer (*)(const T& result);

template <class T>
AnyResult any_result(std::string_view kind, const T& result, std::string_view tool_version,
                     void (*describe)(ResultVisitor& form, T& result), WriteText<T> write_any,
                     Draw<T> draw, std::type_identity_t<MakeAnswer<T>> make_answer) {
  AnyResult any;
  any.kind = kind;
  any.tool_version = tool_version;
  // Casts const away: describe changes nothing while it writes.
  any.describe = [&result, describe](ResultVisitor& form) {
    describe(form, const_cast<T&>(result));
  };
  any.write_text = [&result, write_any](TextReport& reading, const ReportStyle& style) {
    write_any(reading, result, style);
  };
  any.draw = [&result, draw] { return draw(result); };
  any.answer = [&result, make_answer](Answer& answer) { answer = make_answer(result); };
  return any;
}

AnyResult run_result(const RunRecord& record, const Analysis& analysis, JsonScope scope) {
  AnyResult any;
  any.kind = "run";
  any.tool_version = record.tool_version;
  any.describe = [&, scope](ResultVisitor& form) {
    describe_run(form, const_cast<RunRecord&>(record), const_cast<Analysis&>(analysis), scope);
  };
  any.write_text = [&](TextReport& reading, const ReportStyle& style) {
    write_run_text(reading, record, analysis, style);
  };
  any.draw = [&] { return draw_run(record, analysis); };
  any.answer = [&](Answer& answer) { answer = answer_run(record, analysis); };
  any.record = &record;
  any.analysis = &analysis;
  return any;
}

}  // namespace

AnyResult make_result(const RunRecord& record, const Analysis& analysis) {
  return run_result(record, analysis, JsonScope::full);
}

AnyResult default_answer(const RunRecord& record, const Analysis& analysis) {
  return run_result(record, analysis, JsonScope::answer);
}

AnyResult default_answer(const AnyResult& result) {
  const auto shortened = find_row(result.kind, result_kinds()).own.shortened;
  return shortened != nullptr ? shortened(result) : result;
}

AnyResult make_result(const Experiment& sweep, std::string_view tool_version) {
  return any_result("sweep", sweep, tool_version, describe_sweep, write_sweep_text, draw_sweep,
                    answer_sweep);
}

AnyResult make_result(const Tune& tune, std::string_view tool_version) {
  return any_result("tune", tune, tool_version, describe_tune, write_tune_text, draw_tune,
                    answer_tune);
}

AnyResult make_result(const compare::Comparison& comparison, std::string_view tool_version) {
  AnyResult any = any_result("compare", comparison, tool_version, compare::describe_comparison,
                             compare::write_comparison_text, compare::draw_comparison,
                             compare::answer_comparison);
  any.comparison = &comparison;
  return any;
}

AnyResult make_result(const WhatIf& answer, std::string_view tool_version) {
  return any_result("what-if", answer, tool_version, describe_what_if, write_what_if_text,
                    draw_what_if, answer_what_if);
}

AnyResult make_result(const JobPlan& plan, std::string_view tool_version) {
  return any_result("plan", plan, tool_version, describe_plan, write_plan_text, draw_plan,
                    answer_plan);
}

AnyResult make_result(const selftest::Result& result, std::string_view tool_version) {
  return any_result("selftest", result, tool_version, describe_selftest, write_selftest_text,
                    draw_selftest, answer_selftest);
}

AnyResult make_result(const probe::LinkMatrix& matrix, std::string_view tool_version) {
  return any_result("probe-link", matrix, tool_version, probe::describe_link,
                    probe::write_link_text, probe::draw_link, probe::answer_link);
}

AnyResult make_result(const probe::Profile& profile, std::string_view tool_version) {
  return any_result("probe", profile, tool_version, probe::describe_profile,
                    probe::write_profile_text, probe::draw_profile, probe::answer_profile);
}

AnyResult make_result(const watch::Watch& watch, std::string_view tool_version) {
  return any_result("watch", watch, tool_version, watch::describe_watch, watch::write_watch_text,
                    watch::draw_watch, watch::answer_watch);
}

AnyResult make_result(const dataset::DatasetInfo& info, std::string_view tool_version) {
  return any_result("dataset-info", info, tool_version, dataset::describe_info,
                    dataset::write_info_text, dataset::draw_info, dataset::answer_info);
}

AnyResult make_result(const dataset::Drift& drift, std::string_view tool_version) {
  return any_result("dataset-drift", drift, tool_version, dataset::describe_drift,
                    dataset::write_drift_text, dataset::draw_drift, dataset::answer_drift);
}

}  // namespace loaderscope
