#include "unit/known_answer/known_answer.h"

#include <algorithm>
#include <numeric>

namespace loaderscope::known_answer {
namespace {

// Words with their time, zeros left out: what differs between two of these is what a reader wants
// to know.
template <class Enum, class Get>
std::string nonzero_times(const Get& get) {
  std::string text;
  for (const Word<Enum>& word : Words<Enum>::table()) {
    const Nanos ns = get(word.value);
    if (ns != 0) text += std::string(word.name) + " " + duration_to_text(ns) + "  ";
  }
  return text;
}

template <class Enum, class Array>
std::string found_words(const Array& found) {
  return nonzero_times<Enum>([&](Enum word) { return found[word]; });
}

template <class Enum>
std::string expected_words(const std::map<Enum, Nanos>& expected) {
  return nonzero_times<Enum>([&](Enum word) {
    const auto found = expected.find(word);
    return found == expected.end() ? 0 : found->second;
  });
}

// The hand's own sum: a slip in a case is not to be mistaken for one in the model.
Nanos expected_sum(const Answer& answer) {
  return std::accumulate(answer.stall.begin(), answer.stall.end(), answer.compute,
                         [](Nanos sum, const auto& part) { return sum + part.second; });
}

void expect_answer(const Answer& expected, const Account& found) {
  EXPECT_EQ(expected_sum(expected), expected.window) << "the expected answer does not close";
  EXPECT_EQ(found.window, expected.window);
  EXPECT_EQ(found.compute, expected.compute);
  EXPECT_EQ(found_words<Cause>(found.stall), expected_words(expected.stall));
  EXPECT_EQ(found_words<Why>(found.why), expected_words(expected.why));
  EXPECT_EQ(found.order, expected.order);
  EXPECT_EQ(found.waiting_for_ranks, expected.waiting_for_ranks);

  // The model knows the time of every thread, and all clocks are one. A worker rests only while no
  // batch waits for it, so no step waits for one that rests. The trainer asks for k at the end of
  // compute k-N at the latest, which is before the device can be idle.
  EXPECT_EQ(found.stall[Cause::other], 0);
  EXPECT_EQ(found.stall[Cause::prefetch], 0);
  EXPECT_EQ(found.not_asking, 0);
  EXPECT_EQ(found.clamped, 0);
}

}  // namespace

// Drops the critical paths: the working of a case names the cause that leads in its account.
const RunRecord& without_paths(RunRecord& record) {
  for (RankRecord& rank : record.ranks) rank.critical_path.reset();
  return record;
}

TEST_P(KnownAnswer, MatchesAccountAndVerdict) {
  const Case& the_case = GetParam();
  RunRecord record = run(the_case.settings);
  ASSERT_EQ(record.ranks.size(), the_case.ranks.size());
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    SCOPED_TRACE("rank " + std::to_string(rank) + " of " + the_case.settings);
    expect_answer(the_case.ranks[rank], rank_account(record.ranks[rank]));
  }
  if (the_case.bound_by != kNotLookedAt) {
    EXPECT_EQ(analyse(without_paths(record)).verdict.bound_by.value_or(kNoVerdict),
              the_case.bound_by);
  }
}

}  // namespace loaderscope::known_answer
