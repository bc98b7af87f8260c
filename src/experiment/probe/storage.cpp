// Storage: random reads of samples, so many at once, past the page cache and through it; reading
// on; opening files.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>

#include "analysis/wording.h"
#include "experiment/probe/measurement.h"
#include "experiment/probe/piece_reader.h"
#include "experiment/probe/storage_device.h"
#include "experiment/probe/timed_reads.h"
#include "loaderscope/errors.h"

namespace loaderscope::probe {
namespace {

constexpr std::array kDepths = {1, 4, 16, 64};
constexpr int kStorageRounds = 3;

class StorageProbe {
 public:
  StorageProbe(const Probing& probing, Outcome& outcome)
      : probing_(probing), data_(probing.data), outcome_(outcome) {}

  void measure() {
    describe();
    outcome_.most_read = data_.storage_bytes() + data_.image_bytes();
    sample_bytes_ = data_.sample_bytes();
    const std::vector<Piece> first = data_.pieces(1, data_.storage_bytes(), 0);
    if (first.empty()) {
      measure_by_reader();
    } else {
      check_round(first.front());
      condition_ = two_digits(sample_bytes_) + " at random";
      const std::string refusal = why_not_direct(first.front());
      slots_ = 2 * std::ssize(kDepths) + 2;
      if (refusal.empty()) {
        measure_random(Way::direct);
      } else {
        outcome_.notes.push_back("not read past the page cache: " + refusal);
      }
      measure_random(Way::cold);
      measure_reading_on(first.front());
      measure_opening();
    }
    finish();
  }

 private:
  void describe() {
    const std::string place = shown_text(data_.place());
    if (!data_.file().empty()) device_ = device_of(probing_.options.root, data_.file());
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

  Nanos slot() const { return probing_.left() / std::max<std::int64_t>(slots_, 1); }
  // Of one round, so that all together stay within what may be read.
  Bytes round_bytes() const {
    return data_.storage_bytes() / ((2 * std::ssize(kDepths) + 1) * kStorageRounds);
  }

  // Sources that are read in large pieces, such as row groups.
  void check_round(const Piece& piece) const {
    if (!data_.pieces(1, round_bytes(), 0).empty()) return;
    throw RunError(fmt::format(
        "one read of the data brings {}, and of {} that may be read in all each of its rounds has "
        "less; give a larger --read-at-most",
        show_size(static_cast<double>(piece.length)),
        show_size(static_cast<double>(data_.storage_bytes()))));
  }

  void measure_random(Way way) {
    for (const int depth : kDepths) {
      const Nanos time = slot();
      --slots_;
      Speeds speeds;
      bool is_cold = true;
      for (int round = 0; round < kStorageRounds && probing_.goes_on(); ++round) {
        const auto pieces = data_.pieces(kMostPieces, round_bytes(), ++seed_);
        is_cold = forget(pieces) && is_cold;
        std::atomic<std::size_t> next{0};
        const Done done = read_by(
            depth,
            [&]() -> ReadOne {
              return [&, reader = std::make_shared<PieceReader>(way)] {
                const std::size_t own = next++;
                return own < pieces.size() ? static_cast<double>(reader->read(pieces[own])) : -1;
              };
            },
            time / kStorageRounds, probing_.stop);
        read_ += done.bytes;
        speeds.add(done);
      }
      if (const auto speed = speeds.speed(); speed && probing_.goes_on())
        book(way, depth, *speed, is_cold);
    }
  }

  void book(Way way, int depth, const Speed& speed, bool is_cold) {
    const bool is_direct = way == Way::direct;
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

  void measure_reading_on(const Piece& piece) {
    const Nanos time = slot();
    --slots_;
    struct stat facts {};
    constexpr Bytes kChunk = 1 << 20, kLeast = 8 * kChunk;
    if (::stat(piece.path.c_str(), &facts) != 0 || facts.st_size < kLeast) return;
    const Bytes bytes = std::min<Bytes>(facts.st_size, kStorageRounds * round_bytes());
    std::vector<Piece> chunks;
    for (Bytes at = 0; at + kChunk <= bytes; at += kChunk)
      chunks.push_back({piece.path, at, kChunk});
    const bool is_cold = forget({{piece.path, 0, bytes}});
    std::size_t next = 0;
    PieceReader reader(Way::reading_on);
    const Done done = read_by(
        1,
        [&]() -> ReadOne {
          return [&] {
            return next < chunks.size() ? static_cast<double>(reader.read(chunks[next++])) : -1;
          };
        },
        time, probing_.stop);
    read_ += done.bytes;
    if (done.reads <= 0 || done.end <= done.begin || !probing_.goes_on()) return;
    const double rate = done.bytes / seconds(done.end - done.begin);
    outcome_.figures.push_back(
        {"reading_on", "bytes/s", rate, 0, is_cold ? "1 MiB" : "1 MiB, not proved cold"});
    reading_on_ = "one after another " + show_byte_rate(rate);
  }

  void measure_opening() {
    std::set<std::string> names;
    for (const Piece& piece : data_.pieces(kMostPieces, Bytes{1} << 50, 1))
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
      if (done.reads <= 0 || done.end <= done.begin || !probing_.goes_on()) return;
      const double rate = done.reads / seconds(done.end - done.begin);
      outcome_.figures.push_back({fmt::format("opens_{}", threads), "1/s", rate});
      reading_on_ += threads == 1
                         ? fmt::format("{}{} files opened, looked at and closed per second",
                                       reading_on_.empty() ? "" : "; ", show_rate(rate))
                         : fmt::format(", by {} at once {}", threads, show_rate(rate));
    }
  }

  // As the source itself reads, where nothing says in which files samples lie.
  void measure_by_reader() {
    if (data_.source() == nullptr || !data_.why_none().empty()) throw RunError(data_.why_none());
    slots_ = std::ssize(kDepths);
    std::atomic<double> bytes_left{static_cast<double>(data_.storage_bytes())};
    condition_ = "by its reader";
    by_reader_ = true;
    for (const int depth : kDepths) {
      const Nanos time = slot();
      --slots_;
      std::atomic<std::uint64_t> next{++seed_ * 1'000'003};
      const auto size = static_cast<std::uint64_t>(data_.source()->size());
      Speeds speeds;
      for (int round = 0; round < kStorageRounds && probing_.goes_on(); ++round) {
        const Done done = read_by(
            depth,
            [&]() -> ReadOne {
              return [&, reader = std::shared_ptr(data_.source()->make_reader())] {
                if (bytes_left.load() <= 0) return -1.0;
                const std::uint64_t sample = next++ * 0x9e3779b97f4a7c15ULL % size;
                const auto got =
                    static_cast<double>(reader->read(static_cast<std::int64_t>(sample)).size());
                bytes_left.fetch_sub(got);
                return got;
              };
            },
            time / kStorageRounds, probing_.stop);
        read_ += done.bytes;
        samples_ += done.reads;
        speeds.add(done);
      }
      if (const auto speed = speeds.speed(); speed && probing_.goes_on())
        book(Way::cold, depth, *speed, false);
    }
    if (samples_ > 0) sample_bytes_ = read_ / samples_;
  }

  void finish() {
    const bool by_cache = is_proved_ && best_random_.bytes_per_s > 0;
    const Best& best = by_cache || best_direct_.bytes_per_s <= 0 ? best_random_ : best_direct_;
    if (best.bytes_per_s <= 0)
      throw RunError("it was stopped, or nothing could be read in its time");
    const std::string size = two_digits(sample_bytes_);
    outcome_.lines.push_back(
        fmt::format("  {}{}page cache {}; read {} of at most {}", reading_on_,
                    reading_on_.empty() ? "" : "; ", is_proved_ ? "proved cold" : "not proved cold",
                    show_size(read_), show_size(static_cast<double>(outcome_.most_read))));
    if (by_reader_) {
      outcome_.notes.push_back(
          "nothing says where in files samples lie, so they are read by their reader, which may "
          "hold them in memory: that is no ceiling of the storage");
    } else {
      outcome_.ceilings.push_back({.supply = Supply::storage,
                                   .per_s = best.bytes_per_s,
                                   .sample_bytes = data_.is_written() ? 0 : sample_bytes_});
    }
    outcome_.answer = fmt::format("{} {} random at {} with {} in flight{}",
                                  by_reader_ ? "the data's reader" : "storage",
                                  show_byte_rate(best.bytes_per_s), size, best.depth,
                                  by_cache || &best == &best_direct_ ? "" : " (not proved cold)");
  }

  struct Best {
    double bytes_per_s = 0;
    int depth = 0;
  };
  static constexpr std::size_t kMostPieces = 4000;

  const Probing& probing_;
  const ProbedData& data_;
  Outcome& outcome_;
  StorageDevice device_;
  std::int64_t slots_ = 1;
  std::uint64_t seed_ = 0;
  double sample_bytes_ = 0, read_ = 0, samples_ = 0;
  std::string condition_, reading_on_;
  bool is_proved_ = true, by_reader_ = false;
  Best best_direct_, best_random_;
};

}  // namespace

void measure_storage(const Probing& probing, Outcome& outcome) {
  if (probing.data.place().empty()) throw RunError(probing.data.why_none());
  StorageProbe(probing, outcome).measure();
}

}  // namespace loaderscope::probe
