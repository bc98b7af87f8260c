// Measures the rate at which the storage reads samples: at random in several depths, past the page
// cache and through it, and one after another. Also measures the opening of files.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "probe/measurement.h"
#include "probe/range_reader.h"
#include "probe/storage_device.h"
#include "probe/timed_reads.h"

namespace loaderscope::probe {

class StorageProbe {
 public:
  StorageProbe(const ProbeContext& probing, Outcome& outcome)
      : probing_(probing), data_(probing.data), outcome_(outcome) {}

  void measure();

 private:
  struct Best {
    double bytes_per_s = 0;
    int depth = 0;
  };
  static constexpr std::array kDepths = {1, 4, 16, 64};
  static constexpr std::size_t kMaxPieces = 4000;
  static constexpr int kRounds = 3;

  void describe();
  void check_round(const FileRange& piece) const;

  void measure_random(ReadMode way);
  void measure_by_reader();
  // Rounds of one depth; `read_round` reads for so long. `is_cold`: all that it read.
  void measure_depth(ReadMode way, int depth, const std::function<Done(Nanos time)>& read_round,
                     const bool& is_cold);
  void book(ReadMode way, int depth, const Speed& speed, bool is_cold);

  void measure_reading_on(const FileRange& piece);
  void measure_opening();
  void finish();

  Nanos slot() const { return probing_.left() / std::max<std::int64_t>(slots_, 1); }
  Bytes round_bytes() const;

  const ProbeContext& probing_;
  const ProbedData& data_;
  Outcome& outcome_;
  StorageDevice device_;
  std::int64_t slots_ = 1;  // parts of the time that are left
  std::uint64_t seed_ = 0;
  double sample_bytes_ = 0, read_ = 0, samples_ = 0;
  std::string condition_, reading_on_;
  bool is_proved_ = true, by_reader_ = false;
  Best best_direct_, best_random_;
};

}  // namespace loaderscope::probe
