// An object of a server, read in its order: pieces are on their way ahead of who reads.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "source/remote/fetcher.h"
#include "source/shard_bytes.h"

namespace loaderscope::source {

class WholeObject final : public WholeShard {
 public:
  static constexpr Bytes kPiece = Bytes{8} << 20;
  static constexpr int kMaxAhead = 4;  // pieces, that a reader holds

  // What is given by reference outlives it. Throws SampleError where it cannot be had.
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
  std::deque<std::unique_ptr<Fetch>> pieces_;  // one behind the other
  std::vector<std::unique_ptr<Fetch>> spare_;
  Fetcher fetcher_;  // behind what it fetches: it lets go of it
  int most_;
  Bytes next_ = 0;   // where the piece behind them begins
  Bytes size_ = -1;  // -1: not known yet
  std::uint64_t stamp_ = 0;
};

}  // namespace loaderscope::source
