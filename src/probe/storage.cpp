// Measures the rate at which the storage reads samples: at random in several depths, past the page
// cache and through it, and one after another. Also measures the opening of files.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "analysis/wording.h"
#include "loaderscope/errors.h"
#include "probe/measurement.h"
#include "probe/probed_data.h"
#include "probe/range_reader.h"

namespace loaderscope::probe {
namespace {

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

}  // namespace

void StorageProbe::measure() {
  describe();
  outcome_.most_read = data_.storage_bytes() + data_.image_bytes();
  sample_bytes_ = data_.sample_bytes();
  const std::vector<FileRange> first = data_.pieces(1, data_.storage_bytes(), 0);
  if (first.empty()) {
    measure_by_reader();
  } else {
    check_round(first.front());
    condition_ = two_digits(sample_bytes_) + " at random";
    const std::string refusal = why_not_direct(first.front());
    slots_ = 2 * std::ssize(kDepths) + 2;
    if (refusal.empty()) {
      measure_random(ReadMode::direct);
    } else {
      outcome_.notes.push_back("not read past the page cache: " + refusal);
    }
    measure_random(ReadMode::cold);
    measure_reading_on(first.front());
    measure_opening();
  }
  finish();
}

void StorageProbe::describe() {
  const std::string place = shown_text(data_.place());
  if (!data_.file().empty()) device_ = find_storage_device(probing_.options.root, data_.file());
  std::string line = "storage: " + place;
  if (!device_.type.empty()) line += fmt::format(", {}", device_.type);
  if (!device_.kind.empty()) line += " on " + device_.kind;
  if (!device_.source.empty() && device_.source != device_.type)
    line += fmt::format(" ({})", shown_text(device_.source));
  outcome_.facts.push_back({"data", place});
  outcome_.facts.push_back({"file system", device_.type});
  outcome_.facts.push_back({"device", device_.source});
  outcome_.facts.push_back({"kind", device_.kind});
  outcome_.lines.push_back(line);
  if (data_.is_written())
    outcome_.notes.push_back("--path: one temporary file was written there, and is gone");
  if (device_.kind == "network")
    outcome_.notes.push_back(
        "a server may have what was read in a cache of its own: cold is said "
        "of this machine's");
}

// Sources that are read in large pieces, such as row groups.
void StorageProbe::check_round(const FileRange& piece) const {
  if (!data_.pieces(1, round_bytes(), 0).empty()) return;
  throw RunError(fmt::format("one read of the data brings {}, and of {} that may be read in all "
                             "each of its rounds has less",
                             format_size(static_cast<double>(piece.length)),
                             format_size(static_cast<double>(data_.storage_bytes()))),
                 "give a larger --read-at-most");
}

void StorageProbe::finish() {
  const bool is_cold_random = is_proved_ && best_random_.bytes_per_s > 0;
  const Best& best = is_cold_random || best_direct_.bytes_per_s <= 0 ? best_random_ : best_direct_;
  if (best.bytes_per_s <= 0) throw RunError("it was stopped, or nothing could be read in its time");
  const std::string size = two_digits(sample_bytes_);
  outcome_.lines.push_back(
      fmt::format("  {}{}page cache {}; read {} of at most {}", reading_on_,
                  reading_on_.empty() ? "" : "; ", is_proved_ ? "proved cold" : "not proved cold",
                  format_size(read_), format_size(static_cast<double>(outcome_.most_read))));
  if (by_reader_) {
    outcome_.notes.push_back(
        "nothing says where in files samples lie, so they are read by their reader, which may "
        "hold them in memory: that is no ceiling of the storage");
  } else {
    outcome_.ceilings.push_back({.supply = MachineResource::storage,
                                 .per_s = best.bytes_per_s,
                                 .sample_bytes = data_.is_written() ? 0 : sample_bytes_});
  }
  outcome_.answer = fmt::format(
      "{} {} random at {} with {} in flight{}", by_reader_ ? "the data's reader" : "storage",
      format_byte_rate(best.bytes_per_s), size, best.depth,
      is_cold_random || &best == &best_direct_ ? "" : " (not proved cold)");
}

void measure_storage(const ProbeContext& probing, Outcome& outcome) {
  if (probing.data.place().empty()) throw RunError(probing.data.why_none());
  StorageProbe(probing, outcome).measure();
}

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
  for (int round = 0; round < kRounds && probing_.is_running(); ++round) {
    const Done done = read_round(time / kRounds);
    read_ += done.bytes;
    samples_ += done.reads;
    speeds.add(done);
  }
  if (const auto speed = speeds.speed(); speed && probing_.is_running())
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

void StorageProbe::measure_reading_on(const FileRange& piece) {
  const Nanos time = slot();
  --slots_;
  struct stat facts {};
  constexpr Bytes kChunk = 1 << 20, kMin = 8 * kChunk;
  if (::stat(piece.path.c_str(), &facts) != 0 || facts.st_size < kMin) return;
  const Bytes bytes = std::min<Bytes>(facts.st_size, kRounds * round_bytes());
  std::vector<FileRange> chunks;
  for (Bytes at = 0; at + kChunk <= bytes; at += kChunk) chunks.push_back({piece.path, at, kChunk});
  const bool is_cold = forget({{piece.path, 0, bytes}});
  std::size_t next = 0;
  RangeReader reader(ReadMode::reading_on);
  const Done done = read_by(
      1,
      [&]() -> ReadOne {
        return [&] {
          return next < chunks.size() ? static_cast<double>(reader.read(chunks[next++])) : -1;
        };
      },
      time, probing_.stop);
  read_ += done.bytes;
  if (done.reads <= 0 || done.end <= done.begin || !probing_.is_running()) return;
  const double rate = done.bytes / seconds(done.end - done.begin);
  outcome_.figures.push_back(
      {"reading_on", "bytes/s", rate, 0, is_cold ? "1 MiB" : "1 MiB, not proved cold"});
  reading_on_ = "one after another " + format_byte_rate(rate);
}

void StorageProbe::measure_opening() {
  std::set<std::string> names;
  for (const FileRange& piece : data_.pieces(kMaxPieces, Bytes{1} << 50, 1))
    if (!data_.is_written()) names.insert(piece.path);
  if (names.empty()) return;
  const std::vector<std::string> paths(names.begin(), names.end());
  for (const int threads : {1, 16}) {
    std::atomic<std::size_t> next{0};
    const Done done = read_by(
        threads,
        [&]() -> ReadOne {
          return [&] {
            open_and_close(paths[next++ % paths.size()]);
            return 0.0;
          };
        },
        slot() / 2, probing_.stop);
    if (done.reads <= 0 || done.end <= done.begin || !probing_.is_running()) return;
    const double rate = done.reads / seconds(done.end - done.begin);
    outcome_.figures.push_back({fmt::format("opens_{}", threads), "1/s", rate});
    reading_on_ += threads == 1 ? fmt::format("{}{} files opened, looked at and closed per second",
                                              reading_on_.empty() ? "" : "; ", format_rate(rate))
                                : fmt::format(", by {} at once {}", threads, format_rate(rate));
  }
}

}  // namespace loaderscope::probe
