// The storage that the data is on, and what is said of it.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/wording.h"
#include "loaderscope/errors.h"
#include "probe/storage_probe.h"

namespace loaderscope::probe {

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
  const bool by_cache = is_proved_ && best_random_.bytes_per_s > 0;
  const Best& best = by_cache || best_direct_.bytes_per_s <= 0 ? best_random_ : best_direct_;
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
  outcome_.answer =
      fmt::format("{} {} random at {} with {} in flight{}",
                  by_reader_ ? "the data's reader" : "storage", format_byte_rate(best.bytes_per_s),
                  size, best.depth, by_cache || &best == &best_direct_ ? "" : " (not proved cold)");
}

void measure_storage(const ProbeContext& probing, Outcome& outcome) {
  if (probing.data.place().empty()) throw RunError(probing.data.why_none());
  StorageProbe(probing, outcome).measure();
}

}  // namespace loaderscope::probe
