#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>

#include "base/failure_text.h"
#include "base/fd.h"
#include "loaderscope/errors.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

namespace {

constexpr std::int64_t kChunkRows = 1024;

}  // namespace

// An unlinked temporary file: it is gone when the process is, however that ends. All that spill at
// a time have one, in chunks: thousands of ranks do not need thousands of open files.
class SpillFile {
 public:
  static std::shared_ptr<SpillFile> open() {
    static std::mutex mutex;
    static std::weak_ptr<SpillFile> now;
    const std::scoped_lock lock(mutex);
    std::shared_ptr<SpillFile> file = now.lock();
    if (!file || file->descriptor_ < 0) now = file = std::make_shared<SpillFile>();
    return file;
  }

  SpillFile() {
    const char* given = std::getenv("TMPDIR");
    folder_ = given != nullptr && *given != '\0' ? given : "/tmp";
    descriptor_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor_ < 0) {
      std::string name = folder_ + "/loaderscope-steps-XXXXXX";
      descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
      if (descriptor_ >= 0) ::unlink(name.c_str());
    }
    error_ = errno;
  }
  ~SpillFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  void check_created() const {
    if (descriptor_ < 0) fail("cannot be created", error_);
  }

  std::int64_t take_chunk() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) return chunks_++;
    const std::int64_t chunk = free_.back();
    free_.pop_back();
    return chunk;
  }
  void give_back(const std::vector<std::int64_t>& chunks) {
    const std::scoped_lock lock(mutex_);
    free_.insert(free_.end(), chunks.begin(), chunks.end());
  }

  void write(off_t offset, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail("cannot be written", errno);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      offset += written;
    }
  }
  void read(off_t offset, std::span<std::byte> bytes) const {
    const ReadAt got = read_at(descriptor_, offset, bytes);
    if (got.bytes < bytes.size()) fail("cannot be read back", got.error);
  }

 private:
  [[noreturn]] void fail(const char* what, int error) const {
    const std::string remedy = exhaustion_hint(error);
    throw RunError("the temporary file for step rows in " + folder_ + " " + what + " (" +
                       std::strerror(error) + ")",
                   (remedy.empty() ? "make room there, set TMPDIR to another folder" : remedy) +
                       ", or measure fewer steps");
  }

  int descriptor_ = -1;
  int error_ = 0;  // errno of its creation; 0 if none
  std::string folder_;
  std::mutex mutex_;  // guards the members below
  std::int64_t chunks_ = 0;
  std::vector<std::int64_t> free_;
};

struct StepRows::Spill {
  std::shared_ptr<SpillFile> file = SpillFile::open();
  std::vector<std::int64_t> chunks;
  std::int64_t rows = 0;
  bool failed = false;  // no more rows are written to it

  Spill() = default;
  ~Spill() { file->give_back(chunks); }
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;

  // Once it has thrown, `failed` is true, and the block is not in the file.
  void append(const std::vector<StepRow>& block) {
    failed = true;
    file->check_created();
    const std::int64_t end = rows + std::ssize(block);
    while (std::ssize(chunks) * kChunkRows < end) chunks.push_back(file->take_chunk());
    write(rows, block);
    rows = end;
    failed = false;
  }

  void write(std::int64_t first, std::span<const StepRow> block) const {
    visit_chunks(first, block, [&](off_t offset, std::span<const StepRow> part) {
      file->write(offset, std::as_bytes(part));
    });
  }

  // Reads rows [first, first + block.size()).
  void read(std::int64_t first, std::span<StepRow> block) const {
    visit_chunks(first, block, [&](off_t offset, std::span<StepRow> part) {
      file->read(offset, std::as_writable_bytes(part));
    });
  }

 private:
  template <class Row, class Visit>
  void visit_chunks(std::int64_t first, std::span<Row> block, const Visit& visit) const {
    while (!block.empty()) {
      const std::int64_t within = first % kChunkRows;
      const auto count = std::min(std::ssize(block), kChunkRows - within);
      const std::int64_t row =
          chunks[static_cast<std::size_t>(first / kChunkRows)] * kChunkRows + within;
      visit(static_cast<off_t>(row * static_cast<std::int64_t>(sizeof(StepRow))),
            block.first(static_cast<std::size_t>(count)));
      block = block.subspan(static_cast<std::size_t>(count));
      first += count;
    }
  }
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
  const auto spilled_rows = std::clamp<std::int64_t>(spilled() - first, 0, std::ssize(rows));
  const std::span<StepRow> all(rows);
  if (spilled_rows > 0) spill_->read(first, all.first(static_cast<std::size_t>(spilled_rows)));
  if (spilled_rows == std::ssize(rows)) return;
  std::copy_n(tail_.begin() + (first + spilled_rows - spilled()), std::ssize(rows) - spilled_rows,
              rows.begin() + spilled_rows);
}

void StepRows::write(std::int64_t first, const std::vector<StepRow>& rows) {
  const auto spilled_rows = std::clamp<std::int64_t>(spilled() - first, 0, std::ssize(rows));
  const std::span<const StepRow> all(rows);
  if (spilled_rows > 0) spill_->write(first, all.first(static_cast<std::size_t>(spilled_rows)));
  if (spilled_rows == std::ssize(rows)) return;
  std::copy_n(rows.begin() + spilled_rows, std::ssize(rows) - spilled_rows,
              tail_.begin() + (first + spilled_rows - spilled()));
}

StepRow StepRows::back() const { return tail_.back(); }

}  // namespace loaderscope
