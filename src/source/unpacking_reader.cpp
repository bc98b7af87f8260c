// Compressed shards of items: a reader unpacks all of a shard, and keeps it until it needs another.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/fd.h"
#include "loaderscope/errors.h"
#include "source/extent_opener.h"
#include "source/items.h"
#include "source/shard_bytes.h"

namespace loaderscope::source {
namespace {

using Kind = SampleError::Kind;

class UnpackingReader final : public SampleReader {
 public:
  UnpackingReader(const PackedItems& items, ItemPart part)
      : items_(items), part_(std::move(part)) {}

  std::span<const std::byte> read(std::int64_t sample) override {
    const OpenShard& shard = find_shard(items_.shards, sample);
    stored_bytes_ = 0;
    if (&shard != shard_) unpack(shard);
    if (broken_) throw SampleError(*broken_);
    const auto place = static_cast<std::size_t>(sample - shard.first);
    const std::span<const std::byte> all(bytes_.get(), size_);
    const std::uint32_t begin = offsets_[place], end = offsets_[place + 1];
    if (end > size_) throw SampleError(Kind::truncated, "its shard ends before it does");
    if (Bytes{end} - begin > items_.largest_sample) {
      throw SampleError(Kind::too_large,
                        fmt::format("has {} bytes, more than the {} that a sample may have",
                                    end - begin, items_.largest_sample));
    }
    const auto part = part_.extract(all.subspan(begin, end - begin));
    items_.counts.count_sample(std::ssize(part));
    return part;
  }
  void set_listener(SubstageListener& stages) override { stages_ = &stages; }
  std::optional<Bytes> stored_bytes() const override { return stored_bytes_; }

 private:
  // Unpacks a shard. A fault of the shard is found once, and applies to each of its samples.
  void unpack(const OpenShard& shard) {
    shard_ = &shard;
    broken_.reset();
    try {
      unpack_all(shard);
    } catch (const SampleError& error) {
      broken_ = error;
    } catch (const ValueError& error) {
      broken_.emplace(Kind::damaged, error.what());
    }
  }

  void unpack_all(const OpenShard& shard) {
    Fd file(::open(shard.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file < 0) fail_to_open(shard.path, errno);
    items_.counts.count_opened();
    WholeFile packed(std::move(file), items_.counts);
    if (detect_compression(packed) != &items_.compression)
      throw SampleError(Kind::damaged,
                        fmt::format("is not compressed by {}", items_.compression.row.name));
    UnpackedShard unpacked(packed, items_.compression, items_.counts, *stages_);
    make_room(static_cast<std::size_t>(shard.about.bytes));
    const std::span<std::byte> to(bytes_.get(), static_cast<std::size_t>(shard.about.bytes));
    size_ = unpacked.read(0, to);
    unpacked.check_rest();
    stored_bytes_ = unpacked.packed_bytes();
    BytesInMemory held({bytes_.get(), size_});
    offsets_ = read_item_offsets(held, shard.about.items, static_cast<Bytes>(size_));
  }

  void make_room(std::size_t bytes) {
    if (bytes <= room_) return;
    bytes_.reset();
    room_ = 0;
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    room_ = bytes;
  }

  class BytesInMemory final : public ShardBytes {
   public:
    explicit BytesInMemory(std::span<const std::byte> bytes) : bytes_(bytes) {}
    std::size_t read(Bytes begin, std::span<std::byte> to) override {
      if (begin >= std::ssize(bytes_)) return 0;
      const auto from = bytes_.subspan(static_cast<std::size_t>(begin));
      const std::size_t count = std::min(from.size(), to.size());
      std::copy_n(from.begin(), count, to.begin());
      return count;
    }

   private:
    std::span<const std::byte> bytes_;
  };

  const PackedItems& items_;
  ItemPart part_;
  SubstageListener no_listener_;
  SubstageListener* stages_ = &no_listener_;
  const OpenShard* shard_ = nullptr;  // shard that is unpacked, or broken
  std::optional<SampleError> broken_;
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t room_ = 0, size_ = 0;
  std::vector<std::uint32_t> offsets_;
  Bytes stored_bytes_ = 0;
};

}  // namespace

Bytes PackedItems::memory() const {
  Bytes largest = 0;
  for (const OpenShard& shard : shards) largest = std::max(largest, shard.about.bytes);
  return largest + static_cast<Bytes>(WholeFile::kAtOnce + 2 * UnpackedShard::kAtOnce);
}

std::unique_ptr<SampleReader> make_unpacking_reader(const PackedItems& items, ItemPart part) {
  return std::make_unique<UnpackingReader>(items, std::move(part));
}

}  // namespace loaderscope::source
