#include "report/next_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/verdict.h"
#include "base/secret.h"
#include "loaderscope/settings.h"
#include "predict/proof_runs.h"
#include "record/config_facts.h"
#include "record/environment_changes.h"
#include "record/family_traits.h"
#include "report/findings_text.h"
#include "settings/flag_words.h"

namespace loaderscope {
namespace {

Changes for_withheld(const RunRecord& record, const Analysis& analysis) {
  const RunConfig& config = record.config;
  if (ran_to_its_end(record)) return {};
  if (record.input_ended_in_warmup && !record.interrupted) {
    return {{"epochs",
             std::to_string(10 * std::clamp<std::int64_t>(config.measure.epochs, 1, 1 << 20))}};
  }
  if (record.lost_spans > 0 || record.interrupted) return {};
  if (analysis.steps < kMinSteps || !is_firm(analysis)) {
    const std::int64_t wanted =
        analysis.steps < kMinSteps ? 0 : kEnoughBlocks * steps_of_block(record);
    const LongerRun longer = longer_run(config, analysis.steps, wanted);
    return {{std::string(longer.flag), std::to_string(longer.value)}};
  }
  if (!analysis.steady) {
    return {{"warmup", std::to_string(analysis.steps)},
            {"steps", std::to_string(2 * analysis.steps)}};
  }
  if (analysis.busy.half_width() > kMaxWidthOfBusy)
    return {{"steps", std::to_string(kTimesAsLong * analysis.steps)}};
  return {};
}

std::string flag_text(const RunConfig& config) {
  std::string flags;
  for (const std::string& word : flag_words(config)) flags += " " + quoted(word);
  return flags;
}

// Returns the user's program, which comes after all flags; "" for other loaders.
std::string program_text(const RunConfig& config) {
  std::string words;
  for (const std::string& word : config.program.command.value)
    words += " " + quoted(without_secrets(word));
  return words.empty() ? "" : " --" + words;
}

// Settings of the machine, other programs, speeds of stages and how a program copies: only the
// model can change them.
bool needs_model(const RunConfig& config, const Change& change) {
  return is_of_world(change) || (change.key == "copy" && trains_itself(config));
}

bool needs_model(const RunConfig& config, const Changes& changes) {
  return std::any_of(changes.begin(), changes.end(),
                     [&](const Change& change) { return needs_model(config, change); });
}

// A what-if needs a saved result, except where everything is declared.
std::string what_if_command(const RunConfig& config, const Changes& changes) {
  std::string sets;
  for (const Change& change : changes) sets += " --set " + quoted(change.key + "=" + change.value);
  const std::string& json = config.answer.json.value;
  if (!json.empty() && json != "-") return "loaderscope what-if " + quoted(json) + sets;
  const bool declared = !config.has_data() && !is_guest_engine(config.engine.value);
  if (declared) return "loaderscope what-if" + flag_text(config) + sets;
  return "loaderscope run" + flag_text(config) + " --json run.json" + program_text(config) +
         " && loaderscope what-if run.json" + sets;
}

std::string run_with(const RunConfig& config, const char* flag) {
  return "loaderscope run" + flag_text(config) + flag + program_text(config);
}

bool shows_something(Prove asked, const RunRecord& record, const Analysis& analysis) {
  return plan_proof(asked, record, analysis).reason.empty();
}

// Returns true if the advised change helped. Empty if it was not tried.
std::optional<bool> tried(const Analysis& analysis) {
  if (!analysis.proof || analysis.proof->asked != Prove::fix || analysis.proof->cases.empty())
    return std::nullopt;
  const Proof& proof = *analysis.proof;
  return proof_outcome(proof, proof.cases.front()).helps.value_or(false);
}

// Returns the command that leaves out the blamed stage, for advice that is no setting.
std::string command_to_prove(const RunRecord& record, const Analysis& analysis) {
  const auto& blamed = analysis.verdict.bound_by;
  const bool may = !analysis.proof && blamed && blamed != "compute";
  if (!may || !shows_something(Prove::blamed, record, analysis)) return "";
  return run_with(record.config, " --prove");
}

std::string command_to_try(const RunRecord& record, const Analysis& analysis,
                           const Changes& changes) {
  const RunConfig& config = record.config;
  const bool can_try =
      !needs_model(config, changes) && shows_something(Prove::fix, record, analysis);
  return can_try ? run_with(config, " --try") : command_for(config, changes);
}

}  // namespace

std::string command_for(const RunConfig& config, const Changes& changes) {
  if (needs_model(config, changes)) return what_if_command(config, changes);
  return "loaderscope run" + flag_text(counterfactual(config, changes)) + program_text(config);
}

std::string next_command(const RunRecord& record, const Analysis& analysis) {
  if (is_trace_engine(record.engine)) return "";  // unknown command
  if (record.hosts.size() > 1) return "";         // no command here starts the other hosts
  if (analysis.verdict.withheld_reason) {
    const Changes changes = for_withheld(record, analysis);
    if (!changes.empty()) return command_for(record.config, changes);
  }
  const Finding* fix = advised_fix(analysis);
  if (fix == nullptr) return "";
  if (!fix->has_setting()) return command_to_prove(record, analysis);
  if (const auto helps = tried(analysis))
    return *helps ? command_for(record.config, fix->to_run) : "";
  return command_to_try(record, analysis, fix->to_run);
}

}  // namespace loaderscope
