#include "source/index.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/hash.h"

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

namespace {

void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 128; value >>= 7) to += static_cast<char>(value | 128);
  to += static_cast<char>(value);
}

std::size_t bytes_shared(std::string_view a, std::string_view b) {
  const std::size_t most = std::min({a.size(), b.size(), std::size_t{kMaxShared}});
  std::size_t shared = 0;
  while (shared < most && a[shared] == b[shared]) ++shared;
  return shared;
}

template <class Items>
std::byte* put(std::byte* to, const Items& items) {
  const std::size_t bytes = items.size() * sizeof(*items.data());
  if (bytes > 0) std::memcpy(to, items.data(), bytes);
  return to + bytes;
}

}  // namespace

std::uint32_t IndexBuilder::add_folder(const FolderEntry& folder) {
  FolderRecord record;
  record.text_begin = folder_text_.size();
  record.text_bytes = static_cast<std::uint32_t>(folder.relative.size());
  record.root = folder.root;
  record.inode = folder.stamp.inode;
  record.mtime_ns = folder.stamp.mtime_ns;
  record.label = folder.label;
  folder_text_ += folder.relative;
  folders_.push_back(record);
  return static_cast<std::uint32_t>(folders_.size() - 1);
}

void IndexBuilder::add(std::uint32_t folder, std::string_view name) {
  if (samples_ % kBlock == 0) {
    block_offsets_.push_back(names_.size());
    last_name_.clear();
    last_folder_ = 0;
  }
  const std::size_t shared = bytes_shared(last_name_, name);
  const bool moved = folder != last_folder_;
  names_ += static_cast<char>(shared | (moved ? kOtherFolder : 0));
  if (moved) put_varint(names_, folder);
  put_varint(names_, name.size() - shared);
  names_ += name.substr(shared);
  last_name_ = name;
  last_folder_ = folder;
  ++samples_;
}

void IndexBuilder::add(std::uint32_t folder, std::string_view name, std::int32_t label) {
  add(folder, name);
  labels_.push_back(label);
  folder_has_label_.resize(folders_.size());
  if (!folder_has_label_[folder]) {
    folder_has_label_[folder] = true;
    folders_[folder].label = label;
  }
  folders_agree_ = folders_agree_ && folders_[folder].label == label;
}

void IndexBuilder::relabel(const std::vector<std::int32_t>& labels) {
  const auto renamed = [&](std::int32_t label) { return labels[static_cast<std::size_t>(label)]; };
  for (std::int32_t& label : labels_) label = renamed(label);
  for (std::size_t i = 0; i < folder_has_label_.size(); ++i) {
    if (folder_has_label_[i]) folders_[i].label = renamed(folders_[i].label);
  }
}

Index IndexBuilder::finish(std::string_view identity) {
  if (folders_agree_) labels_ = {};
  IndexHeader header;
  header.samples = static_cast<std::uint64_t>(samples_);
  header.folders = folders_.size();
  header.left_out = static_cast<std::uint64_t>(left_out);
  header.has = (labels_.empty() ? 0 : kLabels) | (extents_.empty() ? 0 : kExtents);
  header.identity_bytes = identity.size();
  header.folder_text_bytes = folder_text_.size();
  header.name_bytes = names_.size();
  const std::size_t size = sizeof header + folders_.size() * sizeof(FolderRecord) +
                           block_offsets_.size() * sizeof(std::uint64_t) +
                           labels_.size() * sizeof(std::int32_t) +
                           extents_.size() * sizeof(StoredExtent) + identity.size() +
                           folder_text_.size() + names_.size();
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(size);
  std::byte* to = put(bytes.get(), std::span(&header, 1));
  to = put(to, folders_);
  to = put(to, block_offsets_);
  to = put(to, labels_);
  to = put(to, extents_);
  to = put(to, identity);
  to = put(to, folder_text_);
  put(to, names_);
  Index::seal({bytes.get(), size});
  return Index::parse(std::move(bytes), size).value();
}

}  // namespace loaderscope::source
