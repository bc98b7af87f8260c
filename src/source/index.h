// The list of a data set's files, with the same bytes in memory and in its cache file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/units.h"

namespace loaderscope::source {

// State that shows whether a folder is unchanged.
struct FolderStamp {
  std::uint64_t inode = 0;  // 0: the folder is not watched
  std::int64_t mtime_ns = 0;
  bool operator==(const FolderStamp&) const = default;
};

// A folder, or a file that holds several samples.
struct FolderEntry {
  std::uint32_t root = 0;     // index of the opened path
  std::string_view relative;  // path below the root; "": the root itself
  std::int32_t label = 0;     // label of its samples
  FolderStamp stamp;
};

// Place of a sample in its file, for files with several samples.
struct StoredExtent {
  static constexpr std::uint32_t kMax = 0xffffffff;  // bytes; kMax stands for larger sizes, too
  std::uint32_t begin = 0;                           // offset in a unit that the format chooses
  std::uint32_t bytes = 0;
};

// Immutable. Call from any thread. Names are front-coded in blocks: about ten bytes a sample for
// numbered names, which are the usual case.
class Index {
 public:
  Index() = default;
  // Parses an index. Returns nothing if the bytes are damaged or not an index. No function below
  // reads outside of any accepted bytes.
  static std::optional<Index> parse(std::unique_ptr<std::byte[]> bytes, std::size_t size);
  // Writes the checksum that `parse` requires. Does nothing if `bytes` is shorter than a header.
  static void seal(std::span<std::byte> bytes);

  std::int64_t samples() const { return samples_; }
  std::int64_t folders() const { return folders_; }
  FolderEntry folder(std::int64_t index) const;
  // Stores the file's name in `name` and returns the number of its folder.
  std::int64_t file(std::int64_t sample, std::string& name) const;
  std::int32_t label(std::int64_t sample) const;
  std::optional<StoredExtent> extent(std::int64_t sample) const;
  // Identity of the indexed data. The index is valid only for the same text.
  std::string_view identity() const { return identity_; }
  // Images next to the class folders, which belong to no class.
  std::int64_t left_out() const { return left_out_; }
  std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }

 private:
  friend class IndexBuilder;

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
  std::int64_t samples_ = 0, folders_ = 0, left_out_ = 0;
  std::string_view identity_, folder_text_;
  const std::byte* folder_records_ = nullptr;
  const std::byte* block_offsets_ = nullptr;
  const std::byte* labels_ = nullptr;   // null: a sample has the label of its folder
  const std::byte* extents_ = nullptr;  // null: a sample is a whole file
  std::span<const std::byte> names_;
};

// The bytes of an index, in the byte order of the machine that wrote them:
//   header | folder records | block offsets | labels | extents | identity | folder text | names
// A block holds kBlock names. Each name has these parts:
// - one byte: the number of bytes shared with the name before, and a bit if its folder differs,
// - the folder as a varint if it differs,
// - the length of the rest as a varint,
// - the rest.
inline constexpr std::array<char, 8> kIndexMagic = {'L', 'S', 'I', 'N', 'D', 'E', 'X', '1'};
inline constexpr std::int64_t kBlock = 16;
inline constexpr std::uint8_t kMaxShared = 127;
inline constexpr std::uint8_t kOtherFolder = 128;

inline constexpr std::uint64_t kLabels = 1, kExtents = 2;

struct IndexHeader {
  std::array<char, 8> magic = kIndexMagic;
  std::uint64_t checksum = 0;  // checksum of all following bytes
  std::uint64_t samples = 0;
  std::uint64_t folders = 0;
  std::uint64_t left_out = 0;
  std::uint64_t has = 0;  // kLabels, kExtents
  std::uint64_t identity_bytes = 0;
  std::uint64_t folder_text_bytes = 0;
  std::uint64_t name_bytes = 0;
};

struct FolderRecord {
  std::uint64_t text_begin = 0;
  std::uint32_t text_bytes = 0;
  std::uint32_t root = 0;
  std::uint64_t inode = 0;
  std::int64_t mtime_ns = 0;
  std::int32_t label = 0;
  std::uint32_t unused = 0;
};

// Builds an index, file by file.
class IndexBuilder {
 public:
  // Adds a folder and returns its number. Copies `relative`.
  std::uint32_t add_folder(const FolderEntry& folder);
  // Samples are numbered in the order of their addition. Either all have a label, or none: then
  // they have their folder's.
  void add(std::uint32_t folder, std::string_view name);
  void add(std::uint32_t folder, std::string_view name, std::int32_t label);
  // Sets the extent of the last sample. Either all have one, or none.
  void place_last(StoredExtent extent) { extents_.push_back(extent); }
  // Replaces every label l of `add` with labels[l].
  void relabel(const std::vector<std::int32_t>& labels);

  std::int64_t samples() const { return samples_; }
  std::int64_t left_out = 0;

  // The builder cannot be used afterwards.
  Index finish(std::string_view identity);

 private:
  std::int64_t samples_ = 0;
  std::vector<FolderRecord> folders_;
  std::string folder_text_;
  std::vector<std::uint64_t> block_offsets_;
  std::vector<std::int32_t> labels_;  // added labels; dropped if the folders' labels suffice
  std::vector<bool> folder_has_label_;
  bool folders_agree_ = true;  // each folder's samples have one label
  std::vector<StoredExtent> extents_;
  std::string names_;
  std::string last_name_;
  std::uint32_t last_folder_ = 0;
};

}  // namespace loaderscope::source
