// Builds an index, file by file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "source/index.h"
#include "source/index_format.h"

namespace loaderscope::source {

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
