#include "cli/requirements.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

namespace loaderscope {

void add_requirements(CLI::App& app, std::vector<std::string>& requirements) {
  app.add_option("--require", requirements,
                 "Exit with 2 unless this holds, such as 'device.busy >= 0.85'. Repeatable.")
      ->type_name("CONDITION")
      ->take_all()
      ->expected(1);
}

void check_requirements(const std::vector<std::string>& requirements) {
  for (const std::string& text : requirements) {
    try {
      check_requirement_syntax(text);
    } catch (const ValueError& error) {
      throw add_place<UsageError>("--require " + shown_text(text) + ": ", error);
    }
  }
}

namespace {

ExitCode judge_requirements(const std::vector<std::string>& requirements, const RunRecord& record,
                            const Analysis& analysis) {
  using Outcome = RequirementResult::Outcome;
  bool not_met = false, cannot_tell = false;
  for (const std::string& text : requirements) {
    const RequirementResult result = evaluate_requirement(text, record, analysis);
    if (result.outcome == Outcome::met) continue;
    not_met = not_met || result.outcome == Outcome::not_met;
    cannot_tell = cannot_tell || result.outcome == Outcome::cannot_tell;
    std::fprintf(stderr, "loaderscope: %s\n", result.sentence.c_str());
  }
  if (not_met) return ExitCode::requirement_not_met;
  return cannot_tell ? ExitCode::cannot_tell : ExitCode::ok;
}

}  // namespace

ExitCode judge_and_answer(const std::vector<std::string>& requirements, const RunRecord& record,
                          const Analysis& analysis, const std::function<void()>& write_answer) {
  ExitCode judgement = ExitCode::ok;
  std::exception_ptr unusable;
  try {
    judgement = judge_requirements(requirements, record, analysis);
  } catch (const UsageError&) {
    unusable = std::current_exception();
  }
  write_answer();
  if (unusable) std::rethrow_exception(unusable);
  return judgement;
}

}  // namespace loaderscope
