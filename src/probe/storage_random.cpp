// Measures random reads of samples in several depths.
#include <fmt/format.h>

#include <atomic>
#include <memory>

#include "analysis/wording.h"
#include "loaderscope/errors.h"
#include "probe/storage_probe.h"

namespace loaderscope::probe {

// Returns the limit of one round. All rounds together stay within the limit of reads.
Bytes StorageProbe::round_bytes() const {
  return data_.storage_bytes() / ((2 * std::ssize(kDepths) + 1) * kRounds);
}

void StorageProbe::measure_depth(ReadMode way, int depth,
                                 const std::function<Done(Nanos time)>& read_round,
                                 const bool& is_cold) {
  const Nanos time = slot();
  --slots_;
  Speeds speeds;
  for (int round = 0; round < kRounds && probing_.goes_on(); ++round) {
    const Done done = read_round(time / kRounds);
    read_ += done.bytes;
    samples_ += done.reads;
    speeds.add(done);
  }
  if (const auto speed = speeds.speed(); speed && probing_.goes_on())
    book(way, depth, *speed, is_cold);
}

void StorageProbe::measure_random(ReadMode way) {
  for (const int depth : kDepths) {
    bool is_cold = true;
    const auto read_round = [&](Nanos time) {
      const auto pieces = data_.pieces(kMaxPieces, round_bytes(), ++seed_);
      is_cold = forget(pieces) && is_cold;
      std::atomic<std::size_t> next{0};
      const auto make_reader = [&]() -> ReadOne {
        return [&, reader = std::make_shared<RangeReader>(way)] {
          const std::size_t own = next++;
          return own < pieces.size() ? static_cast<double>(reader->read(pieces[own])) : -1;
        };
      };
      return read_by(depth, make_reader, time, probing_.stop);
    };
    measure_depth(way, depth, read_round, is_cold);
  }
}

// Reads with the source's own reader, if the places of samples are unknown.
void StorageProbe::measure_by_reader() {
  if (data_.source() == nullptr || !data_.why_none().empty()) throw RunError(data_.why_none());
  slots_ = std::ssize(kDepths);
  condition_ = "by its reader";
  by_reader_ = true;
  const auto size = static_cast<std::uint64_t>(data_.source()->size());
  std::atomic<double> bytes_left{static_cast<double>(data_.storage_bytes())};
  for (const int depth : kDepths) {
    std::atomic<std::uint64_t> next{++seed_ * 1'000'003};
    const auto make_reader = [&]() -> ReadOne {
      return [&, reader = std::shared_ptr(data_.source()->make_reader())] {
        if (bytes_left.load() <= 0) return -1.0;
        const std::uint64_t sample = next++ * 0x9e3779b97f4a7c15ULL % size;
        const auto got =
            static_cast<double>(reader->read(static_cast<std::int64_t>(sample)).size());
        bytes_left.fetch_sub(got);
        return got;
      };
    };
    const auto read_round = [&](Nanos time) {
      return read_by(depth, make_reader, time, probing_.stop);
    };
    measure_depth(ReadMode::cold, depth, read_round, false);
  }
  if (samples_ > 0) sample_bytes_ = read_ / samples_;
}

void StorageProbe::book(ReadMode way, int depth, const Speed& speed, bool is_cold) {
  const bool is_direct = way == ReadMode::direct;
  Figure figure{fmt::format("{}_{}", is_direct ? "direct" : "random", depth), "bytes/s",
                speed.bytes_per_s, speed.noise, condition_};
  if (!is_direct && !is_cold) figure.condition += ", not proved cold";
  figure.series = by_reader_
                      ? "samples at random by the data's reader"
                      : fmt::format("{} at random {} the page cache", two_digits(sample_bytes_),
                                    is_direct ? "past" : "through");
  figure.at = depth;
  outcome_.figures.push_back(figure);
  Figure wait{fmt::format("{}_{}_s", is_direct ? "direct" : "random", depth), "s", speed.per_read,
              0, figure.condition};
  outcome_.figures.push_back(wait);
  is_proved_ = is_proved_ && (is_direct || is_cold);
  Best& best = is_direct ? best_direct_ : best_random_;
  if (speed.bytes_per_s > best.bytes_per_s) best = {speed.bytes_per_s, depth};
}

}  // namespace loaderscope::probe
