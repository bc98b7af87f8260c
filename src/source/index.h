// The list of a data set's files: in memory, and byte for byte the same in its cache file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "loaderscope/units.h"

namespace loaderscope::source {

// By what a folder is recognised as unchanged.
struct FolderStamp {
  std::uint64_t inode = 0;  // 0: the folder is not watched
  std::int64_t mtime_ns = 0;
  bool operator==(const FolderStamp&) const = default;
};

// A folder, or a file that holds several samples.
struct FolderEntry {
  std::uint32_t root = 0;     // which of the paths that were opened
  std::string_view relative;  // to the root; "" is the root itself
  std::int32_t label = 0;     // of its samples
  FolderStamp stamp;
};

// Where a sample lies in its file, of files that hold several; in the index as it is.
struct StoredExtent {
  static constexpr std::uint32_t kMax = 0xffffffff;  // bytes: so many, or more
  std::uint32_t begin = 0;                           // in units of who made the index
  std::uint32_t bytes = 0;
};

// Immutable, safe to call from any thread. Names are front-coded in blocks: about ten bytes a
// sample for names that count up, as most do.
class Index {
 public:
  Index() = default;
  // Bytes of an index, or nothing when they are damaged or something else. Whatever the bytes, no
  // function below then reads outside of them.
  static std::optional<Index> parse(std::unique_ptr<std::byte[]> bytes, std::size_t size);
  // Writes the checksum that `parse` demands. `bytes` holds at least a header, else nothing is
  // done.
  static void seal(std::span<std::byte> bytes);

  std::int64_t samples() const { return samples_; }
  std::int64_t folders() const { return folders_; }
  FolderEntry folder(std::int64_t index) const;
  // Puts the file's name into `name` and returns the number of its folder.
  std::int64_t file(std::int64_t sample, std::string& name) const;
  std::int32_t label(std::int64_t sample) const;
  std::optional<StoredExtent> extent(std::int64_t sample) const;
  // What the index is of: it is of use only for the same text.
  std::string_view identity() const { return identity_; }
  // Images that lie beside the class folders and belong to no class.
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

}  // namespace loaderscope::source
