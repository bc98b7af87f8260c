// Files read from their beginning on, and opened.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "analysis/wording.h"
#include "probe/storage_probe.h"

namespace loaderscope::probe {

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
  if (done.reads <= 0 || done.end <= done.begin || !probing_.goes_on()) return;
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
    if (done.reads <= 0 || done.end <= done.begin || !probing_.goes_on()) return;
    const double rate = done.reads / seconds(done.end - done.begin);
    outcome_.figures.push_back({fmt::format("opens_{}", threads), "1/s", rate});
    reading_on_ += threads == 1 ? fmt::format("{}{} files opened, looked at and closed per second",
                                              reading_on_.empty() ? "" : "; ", format_rate(rate))
                                : fmt::format(", by {} at once {}", threads, format_rate(rate));
  }
}

}  // namespace loaderscope::probe
