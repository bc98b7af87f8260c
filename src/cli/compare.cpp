// loaderscope compare
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/totals.h"
#include "base/thread_meter.h"
#include "cli/against.h"
#include "cli/command.h"
#include "cli/compare_flags.h"
#include "cli/experiments.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/saved_result.h"
#include "experiment/case_run.h"
#include "experiment/compare/commits.h"
#include "experiment/compare/compare.h"
#include "experiment/compare/noise_history.h"
#include "job/compare_sides.h"
#include "job/interrupt.h"
#include "job/machine_profile.h"
#include "job/version_text.h"
#include "loaderscope/errors.h"
#include "loaderscope/report.h"
#include "machine/machine.h"
#include "report/results.h"
#include "settings/flag_words.h"
#include "source/cache_folder.h"

namespace loaderscope {
namespace {

// Shows progress on standard error.
compare::Comparison compare_with_progress(const SideSetup& a, const SideSetup& b,
                                          const PairContext& context) {
  ProgressPrinter progress("runs");
  return compare_pair(a, b, context,
                      [&](std::int64_t runs, double share) { progress.show(runs, share); });
}

// Compares GOOD with one commit after another, and keeps what was found of each.
class Bisection {
 public:
  Bisection(const CompareFlags& flags, const RunConfig& base, const compare::Options& options,
            const std::function<bool()>& stopped)
      : refs_(base, flags.own.text("build"), stopped),
        context_{.base = base, .options = options, .stopped = stopped},
        commits_(commits_between(refs_.repository(), flags.results[0], flags.results[1])),
        good_(refs_.add_watched("A", flags.results[0])) {
    compare::give_share(context_.options,
                        1.0 / static_cast<double>(compare::looks_for(std::ssize(commits_)) + 1));
  }

  compare::Comparison run() {
    compare::Comparison whole = measure(std::ssize(commits_) - 1);
    const compare::ComparisonResult judgement = judge(whole);
    const compare::Difference* blamed = judgement.blamed();
    if (blamed == nullptr) blamed = judgement.find("cpu-per-sample");
    const bool slower = judgement.verdict == compare::Outcome::worse && blamed != nullptr;
    if (!slower || whole.interrupted) return whole;
    const compare::SuspectRange left =
        compare::bisect(std::ssize(commits_), [&](std::int64_t i) { return look(i, *blamed); });
    return answer(std::move(whole), left);
  }

 private:
  using Found = std::pair<std::int64_t, compare::Comparison>;

  compare::Comparison measure(std::int64_t commit) {
    const auto i = static_cast<std::size_t>(commit);
    return compare_with_progress(good_, refs_.add("B", commits_[i].commit), context_);
  }

  // One that nothing can have reached is as the last good one; one that does not run says nothing.
  compare::CommitState look(std::int64_t commit, const compare::Difference& whole) {
    const std::string& name = commits_[static_cast<std::size_t>(commit)].commit;
    if (!refs_.why_unaffected(good_.arm.commit, name).empty()) return compare::CommitState::good;
    try {
      const auto& found = found_.emplace_back(commit, measure(commit));
      if (found.second.interrupted) return compare::CommitState::unknown;
      return classify_commit(judge(found.second), whole);
    } catch (const RunError& error) {
      notes_.push_back(error.what());
      return compare::CommitState::unknown;
    }
  }

  // With the comparison of the first bad one, which was measured unless it is BAD itself.
  compare::Comparison answer(compare::Comparison whole, const compare::SuspectRange& left) {
    const auto measured = std::find_if(found_.begin(), found_.end(), [&](const Found& one) {
      return one.first == left.bad && !one.second.interrupted;
    });
    compare::Comparison result =
        measured != found_.end() ? std::move(measured->second) : std::move(whole);
    result.interrupted = context_.stopped();
    const compare::Commit& first = commits_[static_cast<std::size_t>(left.bad)];
    result.first_slower = compare::FirstSlower{first, left.bad - left.good - 1};
    result.notes.insert(result.notes.end(), notes_.begin(), notes_.end());
    return result;
  }

  CommitSides refs_;
  PairContext context_;
  const std::vector<compare::Commit> commits_;
  const SideSetup good_;
  std::vector<Found> found_;
  std::vector<std::string> notes_;
};

// compare --bisect GOOD BAD: compares GOOD with the first commit that is slower, and names it; with
// BAD if no commit is. Throws as CompareArms does.
compare::Comparison bisect_refs(const CompareFlags& flags, const RunConfig& base,
                                const compare::Options& options,
                                const std::function<bool()>& stopped) {
  if (flags.results.size() != 2)
    throw UsageError("--bisect: give two commits", "--bisect v1.0 HEAD");
  return Bisection(flags, base, options, stopped).run();
}

// Shares of the probed ceilings that the runs of each side reach: the fastest run of each.
class Reached {
 public:
  explicit Reached(std::string profile) : profile_(std::move(profile)) {
    known_rates(profile_, machine_, {}, notes_);  // refuses what cannot be read
  }

  void look(std::size_t arm, RunRecord& record) {
    notes_.clear();
    if (record.machine.host == machine_.host)
      add_known_rates(known_rates(profile_, machine_, record.config.data, notes_), record);
    const double rate = per_second(record, &RankRecord::samples).value_or(0);
    Arm& best = arms_.at(arm);
    if (rate <= best.rate) return;
    best = {rate, probed_words(machine_ceilings(record))};
  }
  void add_to(std::vector<std::string>& notes) const {
    notes.insert(notes.end(), notes_.begin(), notes_.end());
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      const std::string& words = arms_.at(i).words;
      if (!words.empty()) notes.push_back(fmt::format("{} has {}", i == 0 ? "A" : "B", words));
    }
  }

 private:
  struct Arm {
    double rate = 0;
    std::string words;
  };
  std::string profile_;
  MachineFacts machine_ = read_machine();
  std::array<Arm, 2> arms_;
  std::vector<std::string> notes_;
};

compare::Comparison compare_results(const CompareFlags& flags, const RunConfig& given) {
  if (flags.results.size() != 2)
    throw UsageError(shown_text(flags.results.front()) + ": give two results, of A and of B",
                     "loaderscope compare a.json b.json");
  refuse_flags_with_result(given, "leave it out, as two results are compared as they are");
  const std::string a = place_of_result(flags.results[0]), b = place_of_result(flags.results[1]);
  RunRecord there = read_result(a).record, here = read_result(b).record;
  compare::Comparison comparison = compare::compare_two_runs(there, here, known_noise(there));
  comparison.arms = {{{"A", a, ""}, {"B", b, ""}}};
  Reached reached(flags.own.text(kMachineFlag.name));
  reached.look(0, there);
  reached.look(1, here);
  reached.add_to(comparison.notes);
  return comparison;
}

compare::Comparison compare_arms(const CompareFlags& flags, const RunConfig& given,
                                 const compare::Options& options,
                                 const std::function<bool()>& stopped) {
  const CompareArms arms(flags.own, given, stopped);
  PairContext context{
      .base = given, .options = options, .stopped = stopped, .same_by_construction = [&] {
        return arms.same_by_construction();
      }};
  Reached reached(flags.own.text(kMachineFlag.name));
  context.look = [&](std::int64_t arm, RunRecord& record) {
    reached.look(static_cast<std::size_t>(arm), record);
  };
  constexpr double kAnchorShare = 1.0 / 3;
  if (arms.anchor) compare::give_share(context.options, 1 - kAnchorShare);
  compare::Comparison comparison = compare_with_progress(arms.two[0], arms.two[1], context);
  comparison.same_flags = arms.same_flags;
  comparison.notes.insert(comparison.notes.end(), arms.notes.begin(), arms.notes.end());
  reached.add_to(comparison.notes);
  if (!arms.anchor || comparison.interrupted) return comparison;
  context.options = options;
  compare::give_share(context.options, kAnchorShare);
  context.same_by_construction = {};
  context.look = {};
  const compare::Comparison since = compare_with_progress(*arms.anchor, arms.two[1], context);
  comparison.interrupted = since.interrupted;
  comparison.anchor = judge_anchor(since, options.anchor_limit);
  return comparison;
}

compare::Comparison make_comparison(const CompareFlags& flags, const RunConfig& given,
                                    const compare::Options& options,
                                    const std::function<bool()>& stopped) {
  if (flags.own.is_on("bisect")) return bisect_refs(flags, given, options, stopped);
  if (!flags.results.empty()) return compare_results(flags, given);
  return compare_arms(flags, given, options, stopped);
}

// Saves the differences between runs of the same code on this machine.
void remember(const compare::Comparison& comparison, const compare::ComparisonResult& judgement) {
  if (comparison.is_of_results || comparison.interrupted) return;
  compare::NoiseHistory(source::user_cache_folder(), read_machine()).add(judgement);
}

ExitCode run_compare(CompareFlags& flags) {
  const RunConfig given = flags.own.read(flags.base, nullptr, !flags.results.empty());
  refuse_flags_of_run(given);
  const compare::Options options = compare_options(flags.own);
  const std::vector<compare::Accepted> accepted = accepted_changes(flags.own);
  OutputRules rules = flags.base.output_rules(given);
  rules.made_from.insert(rules.made_from.end(), flags.results.begin(), flags.results.end());
  check_places(result_places(given), "compare", rules);

  const std::atomic<int>& stop_signal = catch_stop_signals();
  const auto stopped = [&] { return stop_signal.load() != 0; };
  compare::Comparison comparison = make_comparison(flags, given, options, stopped);
  comparison.options = options;
  comparison.accepted = accepted;
  comparison.today = utc_date(std::chrono::system_clock::now());
  comparison.reproduce = compare_command(flags, given, comparison.arms);
  if (!flags.own.text("ref-a").empty()) comparison.file = file_of_batches(given);
  const compare::ComparisonResult judgement = judge(comparison);
  remember(comparison, judgement);
  write_answer(result_places(given), make_result(comparison, version_number()),
               answer_style(flags.own));
  return comparison.interrupted ? exit_code_of_signal(stop_signal.load())
                                : gate_exit_code(decide_gate(comparison, judgement).gate);
}

}  // namespace

Action declare_compare(CLI::App& app) {
  const auto flags = std::make_shared<CompareFlags>(app);
  return [flags] { return run_compare(*flags); };
}

}  // namespace loaderscope
