// Columns of tables, and the choice of the columns with the images and the classes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope::source {

// One leaf of the tree of columns.
struct TableColumn {
  enum class Holds { bytes, text, numbers, other };  // numbers: whole ones
  std::string path;                                  // "image.bytes"
  std::string type;                                  // name in the format, "INT64"
  Holds holds = Holds::other;
  bool is_list = false;  // several values a row
  bool operator==(const TableColumn&) const = default;
};

// Limits the total length of column paths. A file's description of its columns can be short and
// their paths long, because each column of a group repeats its name. Throws ValueError, which
// continues "PATH: ".
class ColumnPaths {
 public:
  std::string within(const std::string& group, std::string_view name);

 private:
  std::size_t all_ = 0;  // bytes
};

// Returns the index of the wanted column; "": the column that can hold images. Throws ValueError,
// which continues "PATH: ".
std::size_t choose_image_column(const std::vector<TableColumn>& columns, std::string_view wanted);
// Returns the index of the wanted column; "": the column with a usual name of a class. Throws
// ValueError, too.
std::size_t choose_class_column(const std::vector<TableColumn>& columns, std::string_view wanted);
using ChooseColumn = std::size_t (*)(const std::vector<TableColumn>&, std::string_view wanted);
// Returns how well a name fits classes: 0 is the best, and -1 is no fit. "image/class/label" fits
// as "label".
int rank_of_class_name(std::string_view name);

// A class that is stored as a number, as text.
class ClassText {
 public:
  // Converts a number of 1 to 8 bytes, the low ones first. Valid until the next call.
  std::span<const std::byte> to_text(std::span<const std::byte> number, bool is_signed);

 private:
  std::string text_;
};

}  // namespace loaderscope::source
