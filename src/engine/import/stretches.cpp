#include "engine/import/stretches.h"

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
std::size_t merge(Sequence& stretches) {
  sort_by_begin(stretches);
  std::size_t kept = 0;
  for (const Stretch stretch : stretches) {
    if (stretch.length() == 0) continue;
    if (kept > 0 && stretch.begin <= stretches[kept - 1].end) {
      stretches[kept - 1].end = std::max(stretches[kept - 1].end, stretch.end);
    } else {
      stretches[kept++] = stretch;
    }
  }
  return kept;
}

}  // namespace

Stretches merged(Stretches stretches) {
  stretches.resize(merge(stretches));
  return stretches;
}

Stretches merged(std::deque<Stretch> stretches) {
  const auto kept = static_cast<std::ptrdiff_t>(merge(stretches));
  return {stretches.begin(), stretches.begin() + kept};
}

// What would grow too long to be one goes on in the next.
Pieces merged(Pieces pieces) {
  constexpr Nanos kMaxLength = std::numeric_limits<std::uint32_t>::max();
  sort_by_begin(pieces);
  std::size_t kept = 0;
  for (GpuPiece piece : pieces) {
    if (kept > 0) {
      GpuPiece& last = pieces[kept - 1];
      const Nanos more = end_of(piece) - end_of(last);
      if (more <= 0) continue;
      if (piece.begin <= end_of(last) && last.length + more <= kMaxLength) {
        last.length += static_cast<std::uint32_t>(more);
        continue;
      }
      if (piece.begin < end_of(last))
        piece = {end_of(last), static_cast<std::uint32_t>(more), piece.correlation};
    }
    if (piece.length > 0) pieces[kept++] = piece;
  }
  pieces.resize(kept);
  return pieces;
}

}  // namespace loaderscope::traces
