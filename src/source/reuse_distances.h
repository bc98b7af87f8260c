// How large a cache would have to be: how many bytes of others are asked for between two uses of
// one piece. By the pieces whose hashes are small, of which there are never more than a few
// thousand, whatever the size of the data.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "loaderscope/units.h"

namespace loaderscope::source {

// Lies in memory that processes share. From any thread of any of them: who would have to wait does
// not count.
class ReuseDistances {
 public:
  // A piece is used; `brought`: it had to be fetched.
  void use(std::uint64_t hash, Bytes size, bool brought);

  double repeats() const { return repeats_.load(); }  // uses of pieces used before
  double bytes_brought_again() const { return brought_again_.load(); }
  double bytes_known() const;  // of all different pieces so far
  // So large a cache would have had all but one in a hundred of the repeats; 0: there were none.
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
  std::uint64_t below_ = ~std::uint64_t{0};  // hashes that are looked at
  std::uint64_t uses_ = 0;
  std::size_t size_ = 0;
  std::array<Piece, kMax> pieces_{};
  std::array<double, 64 * kPerDoubling> histogram_{};  // of distances, in uses
  std::atomic<double> repeats_{0}, brought_again_{0};
};

}  // namespace loaderscope::source
