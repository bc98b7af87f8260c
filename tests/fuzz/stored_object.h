// The bytes that a fuzzer hands in, as an object that is looked at.
#pragma once

#include "fuzz/stored_bytes.h"
#include "source/store.h"

namespace loaderscope::fuzz {

class Memory final : public source::StoredObject {
 public:
  explicit Memory(Stored bytes) : bytes_(bytes) {}
  std::size_t read(Bytes begin, std::span<std::byte> to) override {
    return read_at(bytes_, begin, to);
  }
  Bytes size() const override { return std::ssize(bytes_); }
  source::FolderStamp stamp() const override { return {}; }

 private:
  Stored bytes_;
};

}  // namespace loaderscope::fuzz
