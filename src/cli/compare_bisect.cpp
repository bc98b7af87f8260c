#include "cli/compare_bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "cli/ref_arms.h"
#include "experiment/compare/bisect.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

// Compares GOOD with one commit after another, and keeps what was found of each.
class Bisection {
 public:
  Bisection(const CompareFlags& flags, const RunConfig& base, const compare::Options& options,
            const std::function<bool()>& stopped)
      : refs_(base, flags.own.text("build"), stopped),
        context_{base, options, stopped},
        commits_(commits_between(refs_.repository(), flags.results[0], flags.results[1])),
        good_(refs_.add_watched("A", flags.results[0])) {
    compare::give_share(context_.options,
                        1.0 / static_cast<double>(compare::looks_for(std::ssize(commits_)) + 1));
  }

  compare::Comparison run() {
    compare::Comparison whole = measure(std::ssize(commits_) - 1);
    const compare::Judgement judgement = judge(whole);
    const compare::Difference* blamed = judgement.blamed();
    if (blamed == nullptr) blamed = judgement.find("cpu-per-sample");
    const bool slower = judgement.verdict == compare::Outcome::worse && blamed != nullptr;
    if (!slower || whole.interrupted) return whole;
    const compare::Suspects left =
        compare::bisect(std::ssize(commits_), [&](std::int64_t i) { return look(i, *blamed); });
    return answer(std::move(whole), left);
  }

 private:
  using Found = std::pair<std::int64_t, compare::Comparison>;

  compare::Comparison measure(std::int64_t commit) {
    const auto i = static_cast<std::size_t>(commit);
    return compare_pair(good_, refs_.add("B", commits_[i].commit), context_);
  }

  // One that nothing can have reached is as the last good one; one that does not run says nothing.
  compare::Side look(std::int64_t commit, const compare::Difference& whole) {
    const std::string& name = commits_[static_cast<std::size_t>(commit)].commit;
    if (!refs_.out_of_reach(good_.arm.commit, name).empty()) return compare::Side::good;
    try {
      const auto& found = found_.emplace_back(commit, measure(commit));
      if (found.second.interrupted) return compare::Side::unknown;
      return side_of(judge(found.second), whole);
    } catch (const RunError& error) {
      notes_.push_back(error.what());
      return compare::Side::unknown;
    }
  }

  // With the comparison of the first bad one, which was measured unless it is BAD itself.
  compare::Comparison answer(compare::Comparison whole, const compare::Suspects& left) {
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

  RefArms refs_;
  PairContext context_;
  const std::vector<compare::Commit> commits_;
  const CompareArm good_;
  std::vector<Found> found_;
  std::vector<std::string> notes_;
};

}  // namespace

compare::Comparison bisect_refs(const CompareFlags& flags, const RunConfig& base,
                                const compare::Options& options,
                                const std::function<bool()>& stopped) {
  if (flags.results.size() != 2)
    throw UsageError("--bisect: give two commits, such as --bisect v1.0 HEAD");
  return Bisection(flags, base, options, stopped).run();
}

}  // namespace loaderscope
