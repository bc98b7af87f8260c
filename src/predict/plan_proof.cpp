// Plan of the knock-outs that test a verdict.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "loaderscope/analysis.h"
#include "loaderscope/engine.h"
#include "predict/proof_runs.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxCandidates = 3;
constexpr std::int64_t kDeeper = 4;

ProofCase knocked_out(std::string name, Knockouts stages, Changes changes = {}) {
  ProofCase result;
  result.name = std::move(name);
  result.knockouts = stages;
  result.changes = std::move(changes);
  return result;
}

std::string out(std::string_view what) { return std::string(what) + " knocked out"; }

// A thread that moves batches disappears with its work.
Changes without_transport(const RunConfig& config) {
  if (config.loader.executor != Executor::processes) return {};
  return {{"executor", "threads"}};
}

Changes without_pin_thread(const RunConfig& config) {
  if (config.loader.memory != MemoryMode::pin_thread) return {};
  return {{"memory", std::string(name_of(MemoryMode::pinned_slots))}};
}

ProofCase whole_loader(const RunConfig& config, const std::string& name) {
  Changes changes = without_transport(config);
  for (Change& change : without_pin_thread(config)) changes.push_back(std::move(change));
  return knocked_out(
      name,
      {Stage::read, Stage::read_decompress, Stage::decode, Stage::augment, Stage::collate,
       Stage::transport, Stage::transport_recv, Stage::pin, Stage::h2d},
      std::move(changes));
}

ProofCase deeper_window(const RunConfig& config) {
  const bool samples = config.loader.task == TaskShape::sample;
  const std::int64_t window =
      samples ? config.loader.prefetch_depth : config.loader.prefetch_factor;
  return knocked_out(
      fmt::format("a window {} times as deep", kDeeper), {},
      {{samples ? "prefetch-depth" : "prefetch-factor", std::to_string(kDeeper * window)}});
}

// Returns true if an earlier start would avoid most of the wait for making batches.
bool is_for_depth(Cause cause, const Account& account, const RunConfig& config) {
  const Nanos all = std::accumulate(account.why.begin(), account.why.end(), Nanos{0});
  return makes_batches(cause) && config.loader.num_workers > 0 && 2 * account.why[Why::depth] > all;
}

// Returns nothing for a cause that no run can leave out.
std::optional<ProofCase> case_without(Cause cause, const RunConfig& config) {
  const std::string name = out(name_of(cause));
  switch (cause) {
    case Cause::read:
      return knocked_out(name, {Stage::read, Stage::read_decompress});
    case Cause::decode:
      return knocked_out(name, {Stage::decode});
    case Cause::augment:
      return knocked_out(name, {Stage::augment});
    case Cause::collate:
      return knocked_out(name, {Stage::collate});
    case Cause::transport:
      return knocked_out(name, {Stage::transport, Stage::transport_recv},
                         without_transport(config));
    case Cause::pin:
      return knocked_out(name, {Stage::pin}, without_pin_thread(config));
    case Cause::h2d:
      return knocked_out(name, {Stage::h2d});
    case Cause::startup:
      if (config.loader.persistent_workers) return std::nullopt;
      return knocked_out("workers that persist", {}, {{"persistent-workers", "true"}});
    case Cause::prefetch:
      return deeper_window(config);
    case Cause::opaque:
    case Cause::launch:
    case Cause::contention:
    case Cause::other:
      return std::nullopt;
  }
  return std::nullopt;
}

// Returns all stages of a loader in the model.
Knockouts loader_stages() {
  Knockouts all = {Stage::transport, Stage::transport_recv, Stage::pin, Stage::startup,
                   Stage::startup_parent};
  for (const Stage stage : kMakingStages) all.add(stage);
  return all;
}

std::string why_not(Cause cause) {
  const std::string begin = "it cannot be left out of a run: ";
  switch (cause) {
    case Cause::contention:
      return begin + "try fewer workers, or more cores";
    case Cause::launch:
      return begin + "it is the trainer's own work";
    case Cause::h2d:
      return begin + "batches are copied to the device wherever they come from";
    case Cause::startup:
      return begin + "workers already persist, and the first start is needed";
    case Cause::opaque:
      return begin + "another loader does it";
    default:
      return begin + "its nature is not known";
  }
}

ProofCase refused(Cause cause) {
  ProofCase result = knocked_out(std::string(name_of(cause)), {});
  result.missing = why_not(cause);
  return result;
}

ProofCase case_for(Cause cause, const RunConfig& config, const Account& account) {
  if (is_for_depth(cause, account, config)) return deeper_window(config);
  if (auto without = case_without(cause, config)) return std::move(*without);
  return refused(cause);
}

// Returns the case without several causes, none of which gains anything alone.
ProofCase without_all(const std::vector<Cause>& causes, const RunConfig& config) {
  ProofCase all;
  for (Cause cause : causes) {
    std::optional<ProofCase> one = case_without(cause, config);
    if (!one) return refused(cause);
    all.name += (all.name.empty() ? "" : " and ") + std::string(name_of(cause));
    for (const auto& word : Words<Stage>::table())
      if (one->knockouts.has(word.value)) all.knockouts.add(word.value);
    for (Change& change : one->changes) all.changes.push_back(std::move(change));
  }
  all.name = out(all.name);
  return all;
}

void plan_blamed(Proof& proof, const RunConfig& config, const Analysis& analysis) {
  const Verdict& verdict = analysis.verdict;
  if (verdict.bound_by == "compute") {
    proof.gpu_is_limit = true;
    proof.cases.push_back(whole_loader(config, out("all of the loader")));
    return;
  }
  if (verdict.together) {
    proof.cases.push_back(without_all(verdict.candidates, config));
    return;
  }
  for (Cause cause : verdict.candidates) {
    ProofCase next = case_for(cause, config, analysis.account);
    if (std::find(proof.cases.begin(), proof.cases.end(), next) != proof.cases.end()) continue;
    if (proof.cases.size() == kMaxCandidates) break;
    proof.cases.push_back(std::move(next));
  }
  if (proof.cases.empty()) proof.reason = "the verdict names nothing that could be knocked out";
}

ProofCase with_cache(CacheState state, const RunConfig& config) {
  ProofCase result;
  result.name = state == CacheState::warm ? "cached" : "cold";
  result.changes = {{"cache", std::string(name_of(state))}};
  // A second epoch would read from the page cache.
  if (state == CacheState::cold) result.changes.push_back({"epochs", "1"});
  if (!config.has_data()) {
    result.missing = "declared samples lie in no file";
  } else if (access_traits(config.data.access).is_direct) {
    if (state == CacheState::warm) result.missing = "files are read past the page cache";
  }
  return result;
}

void plan_all(Proof& proof, const RunConfig& config) {
  proof.cases.push_back(whole_loader(config, "device only"));
  proof.cases.push_back(knocked_out("memory", {Stage::read, Stage::read_decompress}));
  proof.cases.push_back(with_cache(CacheState::warm, config));
  proof.cases.push_back(with_cache(CacheState::cold, config));
}

bool is_work_of_loader(Cause cause) {
  return makes_batches(cause) || cause == Cause::transport || cause == Cause::pin ||
         cause == Cause::startup || cause == Cause::prefetch;
}

// Plans the turns for another program's loader, which can only be left out as a whole.
void plan_turns_for(Proof& proof, const Verdict& verdict) {
  const ProofCase without =
      knocked_out("all of the loader, delivered batches in its place", loader_stages());
  const auto& causes = verdict.candidates;
  if (verdict.bound_by == "compute" || std::any_of(causes.begin(), causes.end(), is_work_of_loader))
    proof.cases.push_back(without);
  for (Cause cause : causes) {
    if (!is_work_of_loader(cause)) proof.cases.push_back(refused(cause));
  }
  if (proof.cases.empty()) proof.reason = "the verdict names nothing that could be knocked out";
}

void plan_all_turns(Proof& proof) {
  proof.cases.push_back(knocked_out("delivered", loader_stages()));
  proof.cases.push_back(knocked_out("loader", {}));
}

void plan_fix(Proof& proof, const Analysis& analysis) {
  const Finding* fix = advised_fix(analysis);
  if (fix == nullptr && analysis.verdict.withheld_reason) {
    proof.reason = "without a verdict nothing is advised: " + *analysis.verdict.withheld_reason;
    return;
  }
  if (fix == nullptr || !fix->has_setting()) {
    proof.reason = "no setting is advised that a run could try";
    return;
  }
  const bool warms = std::any_of(fix->to_run.begin(), fix->to_run.end(),
                                 [](const Change& change) { return change.key == "cache"; });
  if (warms) {
    proof.reason =
        "what was read once is in the page cache; compare a run with --cache cold and one with "
        "--cache warm";
    return;
  }
  // A run in virtual time can also have the speeds that the model assumes besides the settings.
  const Changes& changes = proof.exact ? fix->changes : fix->to_run;
  proof.cases.push_back(knocked_out(std::string(fix->id), {}, changes));
}

}  // namespace

Proof plan_proof(Prove asked, const RunRecord& record, const Analysis& analysis) {
  Proof proof;
  proof.asked = asked;
  proof.exact = is_model_engine(record.engine);
  proof.has_busy = analysis.has_busy;
  proof.base.name = "base";
  proof.alternates =
      asked != Prove::fix && !is_native_engine(record.engine) && !is_model_engine(record.engine);
  if (record.interrupted) {
    proof.reason = "the run was interrupted";
  } else if (analysis.steps == 0) {
    proof.reason = "no step was measured";
  } else if (asked == Prove::all && proof.alternates) {
    plan_all_turns(proof);
  } else if (asked == Prove::all) {
    plan_all(proof, record.config);
  } else if (asked == Prove::fix) {
    plan_fix(proof, analysis);
  } else if (analysis.verdict.withheld_reason) {
    proof.reason = "the verdict is withheld: " + *analysis.verdict.withheld_reason;
  } else if (proof.alternates) {
    plan_turns_for(proof, analysis.verdict);
  } else {
    plan_blamed(proof, record.config, analysis);
  }
  return proof;
}

}  // namespace loaderscope
