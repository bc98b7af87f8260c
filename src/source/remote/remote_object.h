// One object of a server, inspected before workers read it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "source/remote/fetcher.h"
#include "source/shard_bytes.h"
#include "source/store.h"

namespace loaderscope::source {

// Requests larger ranges the further it is read in order. Throws ValueError, as specified by
// ObjectStore.
class RemoteObject final : public StoredObject {
 public:
  RemoteObject(const std::string& path, const AccessOptions& options, const ReadCounts& counts);

  std::size_t read(Bytes begin, std::span<std::byte> to) override;
  Bytes size() const override { return size_; }
  FolderStamp stamp() const override { return stamp_; }

 private:
  void ask(Bytes begin, Bytes length);
  bool has(Bytes at) const {
    return at >= piece_.begin() && at < piece_.begin() + std::ssize(piece_.bytes());
  }

  std::string path_;
  Fetch piece_;
  Fetcher fetcher_;  // declared last: its destructor releases `piece_`
  Bytes at_once_;
  Bytes size_ = 0;
  FolderStamp stamp_;
};

// An object of a server that is read in order. Ranges are requested ahead of the reader.
class WholeObject final : public WholeShard {
 public:
  static constexpr Bytes kPiece = Bytes{8} << 20;
  static constexpr int kMaxAhead = 4;  // ranges that a reader holds

  // All references outlive it. Throws SampleError if the object is not available.
  WholeObject(const std::string& path, const AccessOptions& options, const ReadCounts& counts);
  std::size_t read(Bytes begin, std::span<std::byte> to) override;
  Bytes memory() const override { return kPiece * most_; }

 private:
  void start_ahead();
  void begin_at(Bytes at);
  Fetch& piece_at(Bytes at);
  bool take_kept(Fetch& piece);
  void look();
  void know(const Fetch& first);
  void check(const Fetch& piece);

  std::string path_;
  const AccessOptions& options_;
  std::deque<std::unique_ptr<Fetch>> pieces_;  // consecutive ranges
  std::vector<std::unique_ptr<Fetch>> spare_;
  Fetcher fetcher_;  // declared last: its destructor releases the fetches
  int most_;
  Bytes next_ = 0;   // begin of the range after `pieces_`
  Bytes size_ = -1;  // -1: unknown
  std::uint64_t stamp_ = 0;
};

}  // namespace loaderscope::source
