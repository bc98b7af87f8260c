#include "source/index.h"

#include <cstring>
#include <utility>

#include "base/hash.h"
#include "source/index_format.h"

namespace loaderscope::source {
namespace {

constexpr std::size_t kChecked = offsetof(IndexHeader, samples);
// Keeps every product and sum of the header's numbers within 64 bits.
constexpr std::uint64_t kMax = std::uint64_t{1} << 48;

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Takes the sections off the front of the bytes, one after another.
class Sections {
 public:
  explicit Sections(std::span<const std::byte> bytes) : rest_(bytes) {}

  const std::byte* take(std::uint64_t bytes) {
    if (bytes > rest_.size()) {
      short_ = true;
      return nullptr;
    }
    const std::byte* section = rest_.data();
    rest_ = rest_.subspan(bytes);
    return section;
  }
  std::string_view take_text(std::uint64_t bytes) {
    const std::byte* section = take(bytes);
    return section ? std::string_view(reinterpret_cast<const char*>(section), bytes)
                   : std::string_view();
  }
  bool fit() const { return !short_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool short_ = false;
};

// Reads the names of one block. Damage ends it early instead of leading outside.
class BlockReader {
 public:
  explicit BlockReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool next(std::string& name) {
    std::uint64_t head = 0, bytes = 0;
    if (rest_.empty()) return false;
    head = std::to_integer<std::uint8_t>(rest_[0]);
    rest_ = rest_.subspan(1);
    if ((head & kOtherFolder) != 0 && !varint(folder_)) return false;
    if (!varint(bytes) || bytes > rest_.size() || (head & kMaxShared) > name.size()) return false;
    name.resize(head & kMaxShared);
    name.append(reinterpret_cast<const char*>(rest_.data()), bytes);
    rest_ = rest_.subspan(bytes);
    return true;
  }
  std::uint64_t folder() const { return folder_; }

 private:
  bool varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 35 && !rest_.empty(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(rest_[0]);
      rest_ = rest_.subspan(1);
      value |= (byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }

  std::span<const std::byte> rest_;
  std::uint64_t folder_ = 0;
};

}  // namespace

void Index::seal(std::span<std::byte> bytes) {
  if (bytes.size() < sizeof(IndexHeader)) return;
  const std::uint64_t sum = hash_bytes(bytes.subspan(kChecked));
  std::memcpy(bytes.data() + offsetof(IndexHeader, checksum), &sum, sizeof sum);
}

std::optional<Index> Index::parse(std::unique_ptr<std::byte[]> bytes, std::size_t size) {
  if (size < sizeof(IndexHeader)) return std::nullopt;
  const std::span<const std::byte> all(bytes.get(), size);
  const auto header = load<IndexHeader>(all.data());
  if (header.magic != kIndexMagic || header.checksum != hash_bytes(all.subspan(kChecked))) {
    return std::nullopt;
  }
  for (const std::uint64_t number : {header.samples, header.folders, header.left_out}) {
    if (number > kMax) return std::nullopt;
  }
  Index index;
  Sections sections(all.subspan(sizeof header));
  const std::uint64_t blocks = (header.samples + kBlock - 1) / kBlock;
  index.folder_records_ = sections.take(header.folders * sizeof(FolderRecord));
  index.block_offsets_ = sections.take(blocks * sizeof(std::uint64_t));
  if ((header.has & kLabels) != 0)
    index.labels_ = sections.take(header.samples * sizeof(std::int32_t));
  if ((header.has & kExtents) != 0)
    index.extents_ = sections.take(header.samples * sizeof(StoredExtent));
  index.identity_ = sections.take_text(header.identity_bytes);
  index.folder_text_ = sections.take_text(header.folder_text_bytes);
  const std::byte* names = sections.take(header.name_bytes);
  if (!sections.fit()) return std::nullopt;
  if (header.samples > 0 && header.folders == 0) return std::nullopt;
  index.names_ = {names, header.name_bytes};
  index.samples_ = static_cast<std::int64_t>(header.samples);
  index.folders_ = static_cast<std::int64_t>(header.folders);
  index.left_out_ = static_cast<std::int64_t>(header.left_out);
  index.bytes_ = std::move(bytes);
  index.size_ = size;
  return index;
}

FolderEntry Index::folder(std::int64_t index) const {
  const auto record =
      load<FolderRecord>(folder_records_ + static_cast<std::size_t>(index) * sizeof(FolderRecord));
  FolderEntry entry;
  entry.root = record.root;
  if (record.text_begin <= folder_text_.size()) {
    entry.relative = folder_text_.substr(record.text_begin, record.text_bytes);
  }
  entry.label = record.label;
  entry.stamp = {record.inode, record.mtime_ns};
  return entry;
}

std::int64_t Index::file(std::int64_t sample, std::string& name) const {
  const auto block = static_cast<std::size_t>(sample / kBlock);
  const auto begin = load<std::uint64_t>(block_offsets_ + block * sizeof(std::uint64_t));
  BlockReader reader(begin < names_.size() ? names_.subspan(begin) : names_.last(0));
  name.clear();
  for (std::int64_t i = 0; i <= sample % kBlock && reader.next(name); ++i) {
  }
  return reader.folder() < static_cast<std::uint64_t>(folders_)
             ? static_cast<std::int64_t>(reader.folder())
             : 0;
}

std::optional<StoredExtent> Index::extent(std::int64_t sample) const {
  if (extents_ == nullptr) return std::nullopt;
  return load<StoredExtent>(extents_ + static_cast<std::size_t>(sample) * sizeof(StoredExtent));
}

std::int32_t Index::label(std::int64_t sample) const {
  if (labels_ != nullptr) {
    return load<std::int32_t>(labels_ + static_cast<std::size_t>(sample) * sizeof(std::int32_t));
  }
  std::string name;
  return folder(file(sample, name)).label;
}

}  // namespace loaderscope::source
