#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "base/fd.h"
#include "base/shortage.h"
#include "loaderscope/errors.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

// An unlinked temporary file: it is gone when the process is, however that ends.
struct StepRows::Spill {
  int descriptor = -1;
  std::int64_t rows = 0;
  bool failed = false;  // no more rows are written to it
  std::string folder;

  Spill() {
    const char* given = std::getenv("TMPDIR");
    folder = given != nullptr && *given != '\0' ? given : "/tmp";
    descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor < 0) {
      std::string name = folder + "/loaderscope-steps-XXXXXX";
      descriptor = ::mkostemp(name.data(), O_CLOEXEC);
      if (descriptor >= 0) ::unlink(name.c_str());
    }
    failed = descriptor < 0;
    error_ = errno;
  }
  ~Spill() {
    if (descriptor >= 0) ::close(descriptor);
  }
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;

  [[noreturn]] void fail(const char* what, int error) const {
    const std::string remedy = shortage_remedy(error);
    throw RunError("the temporary file for step rows in " + folder + " " + what + " (" +
                   std::strerror(error) + "); " +
                   (remedy.empty() ? "make room there, set TMPDIR to another folder" : remedy) +
                   ", or measure fewer steps");
  }

  // Once it has thrown, `failed` is true, and the block is not in the file.
  void append(const std::vector<StepRow>& block) {
    if (failed) fail("cannot be created", error_);
    failed = true;
    write(rows, block);
    rows += static_cast<std::int64_t>(block.size());
    failed = false;
  }

  void write(std::int64_t first, std::span<const StepRow> block) {
    const auto* data = reinterpret_cast<const char*>(block.data());
    std::size_t left = block.size_bytes();
    auto offset = static_cast<off_t>(first * static_cast<std::int64_t>(sizeof(StepRow)));
    while (left > 0) {
      const ssize_t written = ::pwrite(descriptor, data, left, offset);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail("cannot be written", errno);
      data += written;
      offset += written;
      left -= static_cast<std::size_t>(written);
    }
  }

  // Reads rows [first, first + block.size()).
  void read(std::int64_t first, std::span<StepRow> block) const {
    const auto bytes = std::as_writable_bytes(block);
    const auto offset = first * static_cast<std::int64_t>(sizeof(StepRow));
    const ReadAt got = read_at(descriptor, offset, bytes);
    if (got.bytes < bytes.size()) fail("cannot be read back", got.error);
  }

 private:
  int error_ = 0;  // of its creation
};

StepRows::StepRows(Bytes memory_limit) : memory_limit_(memory_limit) {}
StepRows::~StepRows() = default;

StepRows::StepRows(StepRows&& other) noexcept
    : memory_limit_(other.memory_limit_),
      size_(std::exchange(other.size_, 0)),
      tail_(std::move(other.tail_)),
      spill_(std::move(other.spill_)) {}

StepRows& StepRows::operator=(StepRows&& other) noexcept {
  memory_limit_ = other.memory_limit_;
  size_ = std::exchange(other.size_, 0);
  tail_ = std::move(other.tail_);
  spill_ = std::move(other.spill_);
  return *this;
}

void StepRows::push_back(const StepRow& row) {
  // The vector doubles: stay within the limit while both halves of a growth are alive.
  const auto limit = static_cast<std::size_t>(memory_limit_) / sizeof(StepRow) / 2;
  const bool full = tail_.size() >= std::max<std::size_t>(limit, 1);
  ++size_;
  if (full && !(spill_ && spill_->failed)) {
    if (!spill_) spill_ = std::make_unique<Spill>();
    try {
      spill_->append(tail_);
    } catch (const RunError&) {
      tail_.push_back(row);
      throw;
    }
    tail_.clear();
  }
  tail_.push_back(row);
}

std::int64_t StepRows::spilled() const { return spill_ ? spill_->rows : 0; }

Bytes StepRows::spilled_bytes() const { return spilled() * static_cast<Bytes>(sizeof(StepRow)); }

void StepRows::for_each(const std::function<void(const StepRow&)>& visit,
                        std::int64_t first) const {
  constexpr std::int64_t kBlock = 4096;
  std::vector<StepRow> block;
  std::int64_t at = first;
  while (at < spilled()) {
    block.resize(static_cast<std::size_t>(std::min(kBlock, spilled() - at)));
    spill_->read(at, block);
    for (const StepRow& row : block) visit(row);
    at += static_cast<std::int64_t>(block.size());
  }
  for (std::int64_t i = std::max<std::int64_t>(at - spilled(), 0); i < std::ssize(tail_); ++i) {
    visit(tail_[static_cast<std::size_t>(i)]);
  }
}

void StepRows::read(std::int64_t first, std::vector<StepRow>& rows) const {
  const auto of_file = std::clamp<std::int64_t>(spilled() - first, 0, std::ssize(rows));
  const std::span<StepRow> all(rows);
  if (of_file > 0) spill_->read(first, all.first(static_cast<std::size_t>(of_file)));
  if (of_file == std::ssize(rows)) return;
  std::copy_n(tail_.begin() + (first + of_file - spilled()), std::ssize(rows) - of_file,
              rows.begin() + of_file);
}

void StepRows::write(std::int64_t first, const std::vector<StepRow>& rows) {
  const auto of_file = std::clamp<std::int64_t>(spilled() - first, 0, std::ssize(rows));
  const std::span<const StepRow> all(rows);
  if (of_file > 0) spill_->write(first, all.first(static_cast<std::size_t>(of_file)));
  if (of_file == std::ssize(rows)) return;
  std::copy_n(rows.begin() + of_file, std::ssize(rows) - of_file,
              tail_.begin() + (first + of_file - spilled()));
}

StepRow StepRows::back() const { return tail_.back(); }

}  // namespace loaderscope
