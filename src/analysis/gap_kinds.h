// Kinds of gaps of a GPU in a trace, by what it waited for.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/rows.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope::traces {

enum class GapKind : std::uint8_t {
  loader,
  pageable_copy,
  copy,
  copy_back,
  synchronous,
  lock,
  another_rank,
  file_read,
  system_wait,
  off_core,
  launch,
  unknown,
};
inline constexpr std::size_t kGapKinds = 12;

struct GapRow {
  Row row;
  Cause cause;                 // cause that its time is booked to
  std::string_view phrase;     // "it waits for ..."
  bool may_be_loader = false;  // true: `other` if the trace has no DataLoader waits
};

std::span<const GapRow> gap_table();  // ordered by GapKind
inline const GapRow& gap_row(GapKind kind) { return gap_table()[static_cast<std::size_t>(kind)]; }

// Metrics of a kind in a record: "gap.loader_wait_s".
enum class GapFact : std::uint8_t { seconds, gaps, steps, longest, at, step };
struct GapFactRow {
  std::string_view name, help;
};
inline constexpr std::size_t kGapFacts = 6;
const GapFactRow& gap_row(GapFact fact);
std::string metric_name(GapKind kind, GapFact fact);

}  // namespace loaderscope::traces
