// Estimate of the required cache size, from the bytes of other ranges between two uses of one
// range. It samples ranges with small hashes. At most a few thousand are tracked for any size of
// the data.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "loaderscope/units.h"

namespace loaderscope::source {

// Lives in memory that processes share. Call from any of their threads. A use is not counted if the
// lock is taken.
class ReuseDistances {
 public:
  // Counts a use. `brought`: the range had to be fetched.
  void use(std::uint64_t hash, Bytes size, bool brought);

  double repeats() const { return repeats_.load(); }  // uses of ranges that were used before
  double bytes_brought_again() const { return brought_again_.load(); }
  double bytes_known() const;  // bytes of all distinct ranges so far
  // Size of a cache that would have had 99 % of the repeats; 0: no repeats.
  double least_size() const;

 private:
  struct Piece {
    std::uint64_t hash, last_use;
    Bytes size;
  };
  static constexpr std::size_t kMax = 4096;
  static constexpr int kPerDoubling = 4;

  bool lock();
  void unlock() { locked_.store(false, std::memory_order_release); }
  double each_stands_for() const;
  double distance(const Piece& piece) const;
  void count(double distance);
  void halve();

  std::atomic<bool> locked_{false};
  std::uint64_t below_ = ~std::uint64_t{0};  // limit of tracked hashes
  std::uint64_t uses_ = 0;
  std::size_t size_ = 0;
  std::array<Piece, kMax> pieces_{};
  std::array<double, 64 * kPerDoubling> histogram_{};  // histogram of distances, in uses
  std::atomic<double> repeats_{0}, brought_again_{0};
};

}  // namespace loaderscope::source
