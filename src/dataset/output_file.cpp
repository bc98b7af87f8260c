#include "dataset/output_file.h"

namespace loaderscope::dataset {
namespace {

constexpr std::size_t kHeld = std::size_t{1} << 20;

}  // namespace

OutputFile::OutputFile(const std::string& path, const CompressionRow* compression)
    : file_(path), packer_(compression != nullptr ? compression->make_packer() : nullptr) {}

void OutputFile::append(std::span<const std::byte> bytes) {
  if (!packer_) return hold(bytes);
  packed_.clear();
  packer_->pack(bytes, packed_);
  hold(packed_);
}

void OutputFile::append_all_of(OutputFile& other) {
  other.flush();
  if (packer_) packer_->expect(static_cast<std::uint64_t>(other.bytes()));
  std::vector<std::byte> piece(kHeld);
  for (Bytes at = 0; const std::size_t got = other.file_.read(at, piece);) {
    append(std::span(piece).first(got));
    at += static_cast<Bytes>(got);
  }
}

void OutputFile::put(Bytes offset, std::span<const std::byte> bytes) {
  flush();
  file_.put(offset, bytes);
}

void OutputFile::finish() {
  if (packer_) {
    packed_.clear();
    packer_->finish(packed_);
    hold(packed_);
  }
  flush();
  file_.finish();
}

void OutputFile::hold(std::span<const std::byte> bytes) {
  bytes_ += std::ssize(bytes);
  if (held_.size() + bytes.size() > kHeld) flush();
  if (bytes.size() > kHeld) {
    file_.append(bytes);
    return;
  }
  held_.insert(held_.end(), bytes.begin(), bytes.end());
}

void OutputFile::flush() {
  file_.append(held_);
  held_.clear();
}

}  // namespace loaderscope::dataset
