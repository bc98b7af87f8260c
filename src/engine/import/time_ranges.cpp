#include "engine/import/time_ranges.h"

#include <limits>

namespace loaderscope::traces {
namespace {

template <class Sequence>
void sort_by_begin(Sequence& sequence) {
  std::sort(sequence.begin(), sequence.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
}

// Into the first of them, as many as it returns.
template <class Sequence>
std::size_t merge(Sequence& ranges) {
  sort_by_begin(ranges);
  std::size_t kept = 0;
  for (const TimeRange range : ranges) {
    if (range.length() == 0) continue;
    if (kept > 0 && range.begin <= ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    } else {
      ranges[kept++] = range;
    }
  }
  return kept;
}

}  // namespace

TimeRanges merged(TimeRanges ranges) {
  ranges.resize(merge(ranges));
  return ranges;
}

TimeRanges merged(std::deque<TimeRange> ranges) {
  const auto kept = static_cast<std::ptrdiff_t>(merge(ranges));
  return {ranges.begin(), ranges.begin() + kept};
}

// A piece that would become too long continues in the next piece.
Pieces merged(Pieces pieces) {
  constexpr Nanos kMaxLength = std::numeric_limits<std::uint32_t>::max();
  sort_by_begin(pieces);
  std::size_t kept = 0;
  for (GpuPiece piece : pieces) {
    if (kept > 0) {
      GpuPiece& last = pieces[kept - 1];
      const Nanos more = range_end(piece) - range_end(last);
      if (more <= 0) continue;
      if (piece.begin <= range_end(last) && last.length + more <= kMaxLength) {
        last.length += static_cast<std::uint32_t>(more);
        continue;
      }
      if (piece.begin < range_end(last))
        piece = {range_end(last), static_cast<std::uint32_t>(more), piece.correlation};
    }
    if (piece.length > 0) pieces[kept++] = piece;
  }
  pieces.resize(kept);
  return pieces;
}

}  // namespace loaderscope::traces
