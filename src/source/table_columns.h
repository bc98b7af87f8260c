// Columns of tables: which one holds the images, and which one the classes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope::source {

// Of the tree of columns a leaf.
struct TableColumn {
  enum class Holds { bytes, text, numbers, other };  // numbers: whole ones
  std::string path;                                  // "image.bytes"
  std::string type;                                  // as its format calls it, "INT64"
  Holds holds = Holds::other;
  bool is_list = false;  // several values a row
  bool operator==(const TableColumn&) const = default;
};

// What a file says of its columns may be short and their names together long: of a group each
// column repeats the name. Throws ValueError, as it continues "PATH: ".
class ColumnPaths {
 public:
  std::string within(const std::string& group, std::string_view name);

 private:
  std::size_t all_ = 0;  // bytes
};

// The number of the one that is wanted; "": of the one that can hold images. Throws ValueError, as
// it continues "PATH: ".
std::size_t choose_image_column(const std::vector<TableColumn>& columns, std::string_view wanted);
// Likewise; "": of the one that is called as classes usually are.
std::size_t choose_class_column(const std::vector<TableColumn>& columns, std::string_view wanted);
using ChooseColumn = std::size_t (*)(const std::vector<TableColumn>&, std::string_view wanted);
// How good a name is for classes, 0 the best; -1: it is none. "image/class/label" is one as
// "label".
int rank_of_class_name(std::string_view name);

// A class that is stored as a number, as text.
class ClassText {
 public:
  // Of 1 to 8 bytes, the low ones first. Valid until the next call.
  std::span<const std::byte> of(std::span<const std::byte> number, bool is_signed);

 private:
  std::string text_;
};

}  // namespace loaderscope::source
