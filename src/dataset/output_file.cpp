#include "dataset/output_file.h"

namespace loaderscope::dataset {
namespace {

constexpr std::size_t kHeld = std::size_t{1} << 20;

}  // namespace

void OutputFile::append(std::span<const std::byte> bytes) {
  bytes_ += std::ssize(bytes);
  if (held_.size() + bytes.size() > kHeld) flush();
  if (bytes.size() > kHeld) {
    file_.append(bytes);
    return;
  }
  held_.insert(held_.end(), bytes.begin(), bytes.end());
}

void OutputFile::finish() {
  flush();
  file_.finish();
}

void OutputFile::flush() {
  file_.append(held_);
  held_.clear();
}

}  // namespace loaderscope::dataset
