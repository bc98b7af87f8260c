#include "guest/host/program_output.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/printable.h"

namespace loaderscope::guest {
namespace {

constexpr off_t kMaxShown = 16 * 1024;  // bytes of the end

std::string end_of(int descriptor) {
  const off_t size = std::max<off_t>(0, ::lseek(descriptor, 0, SEEK_END));
  const off_t begin = std::max<off_t>(0, size - kMaxShown);
  std::string text(static_cast<std::size_t>(size - begin), '\0');
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), begin);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return text;
}

}  // namespace

ProgramOutput::ProgramOutput(std::string* text) : text_(text), descriptor_(STDERR_FILENO) {
  if (text_ == nullptr) return;
  const int file = ::memfd_create("output", MFD_CLOEXEC);
  if (file < 0) {
    text_ = nullptr;
  } else {
    descriptor_ = file;
  }
}

ProgramOutput::~ProgramOutput() {
  if (text_ == nullptr) return;
  *text_ = end_of(descriptor_);
  ::close(descriptor_);
}

void ProgramOutput::say(const std::string& sentence) const {
  const std::string line = line_start(descriptor_) + "loaderscope: " + printable(sentence) + "\n";
  if (::write(descriptor_, line.data(), line.size()) < 0) return;  // the reader is gone
}

}  // namespace loaderscope::guest
