#include "source/index_builder.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace loaderscope::source {
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
