#include "source/remote/remote_object.h"

#include <algorithm>
#include <cstring>

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
  const bool goes_on = begin >= end && begin - end <= at_once_;
  at_once_ = goes_on ? std::min(2 * at_once_, kMax) : kFirst;
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

}  // namespace loaderscope::source
