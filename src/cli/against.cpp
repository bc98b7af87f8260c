#include "cli/against.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/printable.h"
#include "base/python_script.h"
#include "base/replace_all.h"
#include "cli/saved_result.h"
#include "experiment/compare/gate.h"
#include "experiment/compare/noise_history.h"
#include "loaderscope/errors.h"
#include "loaderscope/report.h"
#include "machine/machine.h"
#include "record/family_traits.h"
#include "report/answer/compare_words.h"
#include "report/compare_text.h"
#include "settings/engine_table.h"
#include "source/cache_folder.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGiveOwnResult = "give a result of this program, or leave --against out";

// Returns true if one path is the end of the other: the folder of a saved command is unknown.
bool is_same_script(const std::string& one, const std::string& other) {
  const fs::path a = fs::path(one).lexically_normal(), b = fs::path(other).lexically_normal();
  auto x = a.end(), y = b.end();
  while (x != a.begin() && y != b.begin()) {
    if (*--x != *--y) return false;
  }
  return a.empty() == b.empty();
}

std::string subject_name(const RunConfig& config) {
  const ProgramConfig& program = config.program;
  if (program.command.given) return script_name(program.command.value);
  if (program.loader.given) return program.loader.value;
  return is_model_engine(config.engine.value) ? "the model" : "the built-in loader";
}

void refuse_other_program(const std::string& given, const RunConfig& before, const RunConfig& now) {
  const bool is_program = before.program.command.given && now.program.command.given;
  const std::string there = subject_name(before), here = subject_name(now);
  if (is_program ? is_same_script(there, here) : there == here) return;
  throw RunError(fmt::format("--against {}: that run was of {}, and this one is of {}",
                             shown_text(given), shown_text(there), shown_text(here)),
                 kGiveOwnResult);
}

// The rows of comparability speak of A and B.
std::string with_times(std::string text) {
  text = replace_all(replace_all(std::move(text), " in A", " before"), " in B", " now");
  if (text.starts_with("A ")) text.replace(0, 1, "the earlier run");
  if (text.starts_with("B ")) text.replace(0, 1, "this run");
  return text;
}

bool is_finite(const Estimate& one) {
  return std::isfinite(one.mean) && std::isfinite(one.low) && std::isfinite(one.high);
}

}  // namespace

std::string script_name(const std::vector<std::string>& command) {
  const auto script = find_python_script(command);
  if (script != command.end()) return *script;
  const auto module = std::find(command.begin(), command.end(), "-m");
  if (module != command.end() && module + 1 != command.end()) return *(module + 1);
  return command.empty() ? "" : command.front();
}

std::optional<compare::KnownNoise> known_noise(const RunRecord& record) {
  const MachineFacts machine = read_machine();
  if (record.machine.cpu != machine.cpu || record.machine.cores != machine.cores)
    return std::nullopt;
  return compare::NoiseHistory(source::user_cache_folder(), machine).summary();
}

EarlierRun::EarlierRun(const std::string& given, const RunConfig& config)
    : given_(given), record_(read_result(place_of_result(given)).record) {
  refuse_other_program(given, record_.config, config);
  if (record_.interrupted)
    throw RunError(
        fmt::format("--against {}: that run was interrupted, so its rate is not comparable",
                    shown_text(given)),
        "let both runs end by themselves, as with --steps 200");
}

AgainstRun EarlierRun::compare_with(const RunRecord& record) const {
  AgainstRun against;
  against.earlier = given_;
  try {
    const compare::Comparison comparison =
        compare::compare_two_runs(record_, record, known_noise(record_));
    const compare::ComparisonResult judgement = compare::judge(comparison);
    against.verdict = compare::outcome_word(judgement.verdict);
    against.sentence =
        compare::compare_headline(comparison, judgement, decide_gate(comparison, judgement));
    if (const compare::Difference* rate = judgement.find("samples-per-s")) {
      against.rate_before = rate->a;
      if (is_finite(rate->change)) against.change = rate->change;
    }
    against.settings = comparison.changed_settings;
    for (const std::string& warning : comparison.notes)
      against.warnings.push_back(with_times(warning));
  } catch (const RunError& error) {
    against.verdict = "not_comparable";
    against.sentence =
        "Not comparable with " + shown_text(given_) +
        with_times(std::string(error.sentence()).substr(std::string_view("not comparable").size()));
  }
  return against;
}

}  // namespace loaderscope
