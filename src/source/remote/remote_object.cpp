#include "source/remote/remote_object.h"

#include <algorithm>
#include <cstring>

#include "source/range_cache.h"
#include "source/read_counts.h"

namespace loaderscope::source {
namespace {

constexpr Bytes kFirst = Bytes{64} << 10, kMax = Bytes{8} << 20;

}  // namespace

RemoteObject::RemoteObject(const std::string& path, const AccessOptions& options,
                           const ReadCounts& counts)
    : path_(path), fetcher_(options, counts), at_once_(kFirst) {
  piece_.may_be_shorter = true;
  piece_.aim(path_, 0, kFirst);
  fetcher_.start(piece_);
  fetcher_.wait(piece_);
  const HttpResponse& answer = piece_.answer();
  const bool is_empty = answer.status == 416 && answer.object_bytes == Bytes{0};
  if (piece_.error() && !is_empty)
    throw ValueError(std::string("cannot be read: ") + piece_.error()->what());
  if (!answer.object_bytes)
    throw ValueError("cannot be read: the server does not say how long it is");
  size_ = *answer.object_bytes;
  stamp_ = answer.stamp();
}

void RemoteObject::ask(Bytes begin, Bytes length) {
  const Bytes end = piece_.begin() + std::ssize(piece_.bytes());
  const bool continues = begin >= end && begin - end <= at_once_;
  at_once_ = continues ? std::min(2 * at_once_, kMax) : kFirst;
  piece_.aim(path_, begin, std::min(std::max(length, at_once_), size_ - begin));
  fetcher_.start(piece_);
  fetcher_.wait(piece_);
  if (piece_.error()) throw ValueError(std::string("cannot be read: ") + piece_.error()->what());
  if (piece_.bytes().empty() || piece_.answer().stamp() != stamp_)
    throw ValueError("changed while it was read");
}

std::size_t RemoteObject::read(Bytes begin, std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const Bytes at = begin + static_cast<Bytes>(done);
    if (at >= size_) break;
    if (!has(at)) ask(at, std::min(static_cast<Bytes>(to.size() - done), kMax));
    const auto from = static_cast<std::size_t>(at - piece_.begin());
    const std::size_t bytes = std::min(piece_.bytes().size() - from, to.size() - done);
    std::memcpy(to.data() + done, piece_.bytes().data() + from, bytes);
    done += bytes;
  }
  return done;
}

WholeObject::WholeObject(const std::string& path, const AccessOptions& options,
                         const ReadCounts& counts)
    : path_(path),
      options_(options),
      fetcher_(options, counts),
      most_(std::clamp(options.queue_depth, 1, kMaxAhead)) {
  counts.count_opened();
  if (options.kept) look();
  piece_at(0);
}

// Reads the version of the object, because cached ranges must match it.
void WholeObject::look() {
  Fetch first;
  first.may_be_shorter = true;
  first.aim(path_, 0, 1);
  fetcher_.start(first);
  fetcher_.wait(first);
  know(first);
}

void WholeObject::know(const Fetch& first) {
  const HttpResponse& answer = first.answer();
  if (answer.status == 416 && answer.object_bytes == Bytes{0})
    throw SampleError(SampleError::Kind::truncated, "is empty");
  if (first.error()) throw SampleError(*first.error());
  if (!answer.object_bytes)
    throw SampleError(SampleError::Kind::unsupported, "the server does not say how long it is");
  size_ = *answer.object_bytes;
  stamp_ = answer.stamp().inode;
}

// Requests ranges ahead. The first response has the object's size, and nothing after its end is
// requested.
void WholeObject::start_ahead() {
  const int most = size_ < 0 ? 1 : most_;
  while (std::ssize(pieces_) < most && (size_ < 0 || next_ < size_)) {
    std::unique_ptr<Fetch> piece;
    if (spare_.empty()) {
      piece = std::make_unique<Fetch>();
    } else {
      piece = std::move(spare_.back());
      spare_.pop_back();
    }
    piece->may_be_shorter = size_ < 0;
    piece->aim(path_, next_, size_ < 0 ? kPiece : std::min(kPiece, size_ - next_));
    next_ += kPiece;
    if (!take_kept(*piece)) fetcher_.start(*piece);
    pieces_.push_back(std::move(piece));
  }
}

void WholeObject::begin_at(Bytes at) {
  for (auto& piece : pieces_) {
    fetcher_.drop(*piece);
    spare_.push_back(std::move(piece));
  }
  pieces_.clear();
  next_ = at;
}

bool WholeObject::take_kept(Fetch& piece) {
  if (!options_.kept) return false;
  const auto found = options_.kept->find({path_, stamp_, piece.begin(), piece.length()},
                                         [&](std::size_t bytes) { return piece.take_kept(bytes); });
  return found.has_value();  // cached ranges of the inspected version
}

void WholeObject::check(const Fetch& piece) {
  if (piece.was_kept()) return;
  if (size_ < 0) know(piece);
  if (piece.error()) throw SampleError(*piece.error());
  if (piece.answer().stamp().inode != stamp_)
    throw SampleError(SampleError::Kind::damaged, "changed while it was read");
  if (std::ssize(piece.bytes()) != std::min(kPiece, size_ - piece.begin()))
    throw SampleError(SampleError::Kind::truncated, "the server sends less than it says");
  if (options_.kept)
    options_.kept->keep({path_, stamp_, piece.begin(), std::ssize(piece.bytes())}, piece.bytes());
}

// Waits for it; the pieces before it are done with.
Fetch& WholeObject::piece_at(Bytes at) {
  if (!pieces_.empty() && at < pieces_.front()->begin()) begin_at(at / kPiece * kPiece);
  while (!pieces_.empty() && at >= pieces_.front()->begin() + kPiece) {
    fetcher_.drop(*pieces_.front());
    spare_.push_back(std::move(pieces_.front()));
    pieces_.pop_front();
  }
  if (pieces_.empty()) next_ = at / kPiece * kPiece;
  start_ahead();
  Fetch& piece = *pieces_.front();
  if (!piece.is_checked) {
    fetcher_.wait(piece);
    check(piece);
    piece.is_checked = true;
    start_ahead();
  }
  return piece;
}

std::size_t WholeObject::read(Bytes begin, std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const Bytes at = begin + static_cast<Bytes>(done);
    if (size_ >= 0 && at >= size_) break;
    const Fetch& piece = piece_at(at);
    const auto from = static_cast<std::size_t>(at - piece.begin());
    if (from >= piece.bytes().size()) break;
    const std::size_t bytes = std::min(piece.bytes().size() - from, to.size() - done);
    std::memcpy(to.data() + done, piece.bytes().data() + from, bytes);
    done += bytes;
  }
  return done;
}

}  // namespace loaderscope::source
