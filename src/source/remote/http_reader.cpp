// Extents by requests to servers: while the worker decodes a sample, the ranges of the next ones
// are on their way. Small samples that lie close to each other come with one request.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "source/access.h"
#include "source/range_cache.h"
#include "source/remote/fetcher.h"

namespace loaderscope::source {
namespace {

constexpr Bytes kMaxGap = Bytes{16} << 10;   // between two samples of one request
constexpr Bytes kMaxPiece = Bytes{8} << 20;  // limit of a range with several samples

// Samples that come with one request.
struct Piece {
  struct Part {
    std::int64_t sample;
    Extent extent;
    bool wanted = true;
  };
  std::vector<Part> parts;  // empty: unused
  std::uint64_t stamp = 0;
  Fetch fetch;

  Part* find_part(std::int64_t sample) {
    const auto found = std::find_if(parts.begin(), parts.end(), [sample](const Part& part) {
      return part.wanted && part.sample == sample;
    });
    return found == parts.end() ? nullptr : &*found;
  }
  bool is_wanted() const {
    return std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.wanted; });
  }
  Bytes bytes_held(Bytes object_bytes) const {
    return fetch.length() == Extent::kToEnd ? object_bytes : fetch.length();
  }
};

class HttpReader final : public SampleReader {
 public:
  explicit HttpReader(const Access& access)
      : access_(access), fetcher_(access.options(), access.counts()) {
    pieces_.resize(2 * static_cast<std::size_t>(access.queue_depth()) + 1);
    for (auto& piece : pieces_) piece = std::make_unique<Piece>();
  }

  void expect(std::span<const std::int64_t> samples) override {
    expected_.assign(samples.begin(), samples.end());
    next_expected_ = 0;
    for (auto& piece : pieces_) {
      for (Piece::Part& part : piece->parts) {
        const auto named = std::find(expected_.begin(), expected_.end(), part.sample);
        part.wanted = part.wanted && named != expected_.end();
        if (part.wanted) *named = kBegun;
      }
      if (!piece->is_wanted() && piece.get() != current_) free(*piece);
    }
  }

  int readahead_limit() const override { return 2 * access_.queue_depth(); }

  std::span<const std::byte> read(std::int64_t sample) override {
    if (current_ != nullptr && !current_->is_wanted()) free(*current_);
    current_ = nullptr;
    fetcher_.look();
    Piece& piece = sample_piece(sample);
    Piece::Part& part = *piece.find_part(sample);
    part.wanted = false;
    current_ = &piece;
    start_ahead();
    while (!piece.fetch.done()) {
      fetcher_.wait_a_while(piece.fetch);
      start_ahead();
    }
    return received_bytes(piece, part.extent);
  }

 private:
  static constexpr std::int64_t kBegun = -1;  // replaces a sample that is in flight

  void free(Piece& piece) {
    fetcher_.drop(piece.fetch);
    piece.parts.clear();
  }

  // Requests an unexpected sample before the expected ones.
  Piece& sample_piece(std::int64_t sample) {
    for (auto& piece : pieces_) {
      if (piece->find_part(sample) != nullptr) return *piece;
    }
    if (next_expected_ < expected_.size() && expected_[next_expected_] == sample) ++next_expected_;
    Piece& piece = free_piece();
    begin(piece, sample);
    add_neighbours(piece);
    start(piece);
    return piece;
  }

  // Discards a range if none is free. Its samples are requested again when they are read.
  Piece& free_piece() {
    for (auto& piece : pieces_) {
      if (piece->parts.empty()) return *piece;
    }
    free(*pieces_.back());
    return *pieces_.back();
  }

  void begin(Piece& piece, std::int64_t sample) {
    const Extent extent = checked(access_.extents().extent(sample));
    piece.parts.push_back({sample, extent});
  }

  Extent checked(const Extent& extent) const {
    if (extent.length == 0) throw SampleError(SampleError::Kind::truncated, "is empty");
    if (extent.length > access_.largest_sample())
      throw SampleError(SampleError::Kind::too_large,
                        "has " + std::to_string(extent.length) + " bytes, more than the " +
                            std::to_string(access_.largest_sample()) + " that a sample may have");
    return extent;
  }

  // Adds the next expected samples if they follow closely. With a range cache, each sample is a
  // range of its own.
  void add_neighbours(Piece& piece) {
    if (access_.options().kept) return;
    while (next_expected_ < expected_.size()) {
      const std::int64_t sample = expected_[next_expected_];
      if (sample == kBegun) {
        ++next_expected_;
        continue;
      }
      const Extent& first = piece.parts.front().extent;
      const Extent& last = piece.parts.back().extent;
      const Extent next = access_.extents().extent(sample);
      const Bytes gap = next.offset - (last.offset + last.length);
      if (last.length == Extent::kToEnd || next.length <= 0 || next.object != last.object ||
          gap < 0 || gap > kMaxGap || next.offset + next.length - first.offset > kMaxPiece ||
          piece_has(sample))
        return;
      piece.parts.push_back({sample, next});
      ++next_expected_;
    }
  }

  bool piece_has(std::int64_t sample) const {
    return std::any_of(pieces_.begin(), pieces_.end(),
                       [sample](const auto& piece) { return piece->find_part(sample) != nullptr; });
  }

  void start(Piece& piece) {
    const Extent& first = piece.parts.front().extent;
    const Extent& last = piece.parts.back().extent;
    access_.extents().get_path(first.object, path_);
    piece.stamp = access_.extents().version_stamp(first.object);
    const bool whole = first.length == Extent::kToEnd;
    piece.fetch.aim(path_, first.offset,
                    whole ? Extent::kToEnd : last.offset + last.length - first.offset);
    if (!take_kept(piece)) fetcher_.start(piece.fetch);
  }

  void start_ahead() {
    while (next_expected_ < expected_.size()) {
      Piece* room = room_ahead();
      if (room == nullptr) return;
      const std::int64_t sample = expected_[next_expected_++];
      if (sample == kBegun || piece_has(sample)) continue;
      try {
        begin(*room, sample);
      } catch (const SampleError&) {  // reading that sample will report the fault
        continue;
      }
      add_neighbours(*room);
      start(*room);
    }
  }

  // Null: as much as may be is under way, or waits to be asked for. As many as are under way may
  // have come before their turn, and one stays free for a sample that is not expected.
  Piece* room_ahead() const {
    Piece* room = nullptr;
    std::size_t used = 0;
    std::int64_t under_way = 0;
    Bytes held = 0;
    for (const auto& piece : pieces_) {
      if (piece->parts.empty()) {
        room = piece.get();
        continue;
      }
      ++used;
      if (!piece->fetch.done()) ++under_way;
      held += piece->bytes_held(largest_);
    }
    const bool is_full = under_way >= access_.queue_depth() || used + 1 >= pieces_.size();
    return is_full || held >= kMaxReadAhead ? nullptr : room;
  }

  RangeKey range_key(const Piece& piece, const Extent& extent) {
    access_.extents().get_path(extent.object, path_);
    return {path_, piece.stamp, extent.offset, extent.length};
  }

  bool take_kept(Piece& piece) {
    RangeCache* kept = access_.options().kept.get();
    if (kept == nullptr) return false;
    const auto found = kept->find(range_key(piece, piece.parts.front().extent),
                                  [&](std::size_t bytes) { return piece.fetch.take_kept(bytes); });
    if (!found) return false;
    if (!found->is_proved) piece.fetch.ask_unless_same(found->version);
    return found->is_proved;
  }

  std::span<const std::byte> received_bytes(Piece& piece, const Extent& extent) {
    if (piece.fetch.error()) throw SampleError(*piece.fetch.error());
    if (piece.stamp != 0 && !piece.fetch.was_kept() &&
        piece.fetch.answer().stamp().inode != piece.stamp)
      throw SampleError(SampleError::Kind::damaged, "its object changed after it was opened");
    std::span<const std::byte> bytes = piece.fetch.bytes();
    if (extent.length != Extent::kToEnd) {
      bytes = bytes.subspan(static_cast<std::size_t>(extent.offset - piece.fetch.begin()),
                            static_cast<std::size_t>(extent.length));
    }
    if (bytes.empty()) throw SampleError(SampleError::Kind::truncated, "is empty");
    if (!piece.fetch.was_kept()) keep(piece, extent, bytes);
    if (piece.fetch.was_proved())
      access_.options().kept->prove(range_key(piece, extent), std::ssize(bytes));
    access_.count_sample(std::ssize(bytes));
    largest_ = std::max(largest_, static_cast<Bytes>(std::ssize(bytes)));
    return bytes;
  }

  void keep(Piece& piece, const Extent& extent, std::span<const std::byte> bytes) {
    RangeCache* kept = access_.options().kept.get();
    if (kept == nullptr) return;
    const bool is_known = piece.stamp != 0;
    kept->keep(range_key(piece, extent), bytes, is_known ? "" : piece.fetch.answer().unless_same());
  }

  const Access& access_;
  std::vector<std::unique_ptr<Piece>> pieces_;
  Fetcher fetcher_;  // declared last: its destructor releases the fetches
  std::vector<std::int64_t> expected_;
  std::size_t next_expected_ = 0;
  Bytes largest_ = Bytes{128} << 10;  // largest sample so far
  Piece* current_ = nullptr;          // the caller looks at its bytes
  std::string path_;
};

}  // namespace

std::optional<std::string> why_no_servers() { return std::nullopt; }

std::unique_ptr<SampleReader> make_http_reader(const Access& access) {
  return std::make_unique<HttpReader>(access);
}

}  // namespace loaderscope::source
