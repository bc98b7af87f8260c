// One object of a server, inspected before workers read it.
#pragma once

#include <string>

#include "source/remote/fetcher.h"
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

}  // namespace loaderscope::source
