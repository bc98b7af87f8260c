// Why loaders hang, as far as it is known: pure functions of where the processes stand.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hang/hang_facts.h"

namespace loaderscope::hang {

struct Explanation {
  std::string cause, advice;  // a sentence each, without its end
};

struct HangCause {
  std::string_view name;
  // Nothing where it is another one.
  std::optional<Explanation> (*explain)(const HangFacts& facts);
};

// What is certain comes before what is likely: the first that explains it counts.
std::span<const HangCause> hang_causes();

struct NamedCause {
  std::string_view name;
  Explanation words;
};
std::optional<NamedCause> cause_of(const HangFacts& facts);

// A rank whose epoch is over, while one that goes on in it waits; null: there is none.
const RankFacts* rank_without_batches(const HangFacts& facts, const RankFacts& waiting);

}  // namespace loaderscope::hang
