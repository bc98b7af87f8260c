// The report of a loader that hangs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hang/hang_facts.h"

namespace loaderscope::hang {

struct HangReport {
  std::string answer;               // the waiting process, the awaited process and its state
  std::vector<std::string> others;  // states of the other processes, a line each
  std::string cause;                // cause with its name; "": unknown
  std::string advice;               // against it

  std::vector<std::string> lines() const;  // all of it
};

HangReport make_report(const HangFacts& facts);

// Known causes of hangs of loaders, as pure functions of the states of the processes.
struct Explanation {
  std::string cause, advice;  // a sentence each, without its end
};

struct HangCause {
  std::string_view name;
  // Returns nothing if it is another cause.
  std::optional<Explanation> (*explain)(const HangFacts& facts);
};

// Certain causes come before likely ones. The first that explains the hang counts.
std::span<const HangCause> hang_causes();

struct NamedCause {
  std::string_view name;
  Explanation words;
};
std::optional<NamedCause> find_cause(const HangFacts& facts);

// Returns a rank whose epoch is over while `waiting` continues and waits in it; null: there is
// none.
const RankFacts* rank_without_batches(const HangFacts& facts, const RankFacts& waiting);

}  // namespace loaderscope::hang
