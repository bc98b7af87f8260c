#include "source/table_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "loaderscope/errors.h"

namespace loaderscope::source {
namespace {

using Holds = TableColumn::Holds;

// Suffix of an image's bytes in Hugging Face data sets: a structure of bytes and a path.
constexpr std::string_view kBytesOfImage = ".bytes";

bool is_called(const TableColumn& column, std::string_view name) {
  return column.path == name || column.path == std::string(name) + std::string(kBytesOfImage);
}

std::string shown_column(const TableColumn& column) {
  constexpr std::size_t kMaxLength = 100;  // bytes
  std::string_view path = column.path;
  if (path.ends_with(kBytesOfImage)) path.remove_suffix(kBytesOfImage.size());
  return shown_text(path.substr(0, kMaxLength)) + (path.size() > kMaxLength ? "..." : "");
}

template <class Takes>
std::string column_names(const std::vector<TableColumn>& columns, const Takes& takes) {
  constexpr int kMaxNamed = 10;
  std::string names;
  int count = 0;
  for (const TableColumn& column : columns) {
    if (!takes(column) || ++count > kMaxNamed) continue;
    names += (names.empty() ? "" : ", ") + shown_column(column);
  }
  if (count > kMaxNamed) names += fmt::format(" and {} more", count - kMaxNamed);
  return names;
}

std::string all_names(const std::vector<TableColumn>& columns) {
  return column_names(columns, [](const auto&) { return true; });
}

bool can_hold_images(const TableColumn& column) {
  return column.holds == Holds::bytes && !column.is_list;
}

bool can_hold_classes(const TableColumn& column) {
  return (column.holds == Holds::numbers || column.holds == Holds::text) && !column.is_list;
}

std::size_t only_image_column(const std::vector<TableColumn>& columns) {
  const auto found = std::find_if(columns.begin(), columns.end(), can_hold_images);
  const auto count = std::count_if(columns.begin(), columns.end(), can_hold_images);
  if (count == 1) return static_cast<std::size_t>(found - columns.begin());
  if (count > 1)
    throw ValueError(
        fmt::format("has several columns of bytes: {}", column_names(columns, can_hold_images)),
        "choose one with ?column=NAME");
  throw ValueError(
      fmt::format("has no column of bytes, which images are, only {}", all_names(columns)));
}

const TableColumn& called_column(const std::vector<TableColumn>& columns, std::string_view wanted) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const auto& column) { return is_called(column, wanted); });
  if (found == columns.end())
    throw ValueError(
        fmt::format("has no column {}, only {}", shown_text(wanted), all_names(columns)),
        "choose one with ?column=NAME");
  if (found->is_list)
    throw ValueError(
        fmt::format("has lists in the column {}, which are not read", shown_text(wanted)),
        "write a row for each image");
  return *found;
}

}  // namespace

std::string ColumnPaths::within(const std::string& group, std::string_view name) {
  constexpr std::size_t kMaxLength = 4096, kMax = std::size_t{64} << 20;  // bytes
  const std::size_t size = group.size() + 1 + name.size();
  all_ += size;
  if (size > kMaxLength || all_ > kMax)
    throw ValueError(
        fmt::format("has columns whose names take {}",
                    size > kMaxLength ? "more than 4096 bytes each" : "more than 64 MiB"),
        "write it again with shorter names, or fewer columns");
  return group.empty() ? std::string(name) : group + "." + std::string(name);
}

std::size_t choose_image_column(const std::vector<TableColumn>& columns, std::string_view wanted) {
  if (wanted.empty()) return only_image_column(columns);
  const TableColumn& found = called_column(columns, wanted);
  if (found.holds != Holds::bytes && found.holds != Holds::text)
    throw ValueError(fmt::format("has {} in the column {}, and images are bytes", found.type,
                                 shown_text(wanted)));
  return static_cast<std::size_t>(&found - columns.data());
}

int rank_of_class_name(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "label", "labels", "class", "cls", "target", "class_id", "category", "fine_label"};
  const auto* found =
      std::find(kNames.begin(), kNames.end(), name.substr(name.find_last_of("/.") + 1));
  return found == kNames.end() ? -1 : static_cast<int>(found - kNames.begin());
}

std::size_t choose_class_column(const std::vector<TableColumn>& columns, std::string_view wanted) {
  const TableColumn* best = nullptr;
  if (!wanted.empty()) {
    best = &called_column(columns, wanted);
    if (!can_hold_classes(*best))
      throw ValueError(fmt::format("has {} in the column {}, and classes are whole numbers or text",
                                   best->type, shown_text(wanted)));
    return static_cast<std::size_t>(best - columns.data());
  }
  for (const TableColumn& column : columns) {
    const int rank = rank_of_class_name(column.path);
    if (rank < 0 || !can_hold_classes(column)) continue;
    if (best == nullptr || rank < rank_of_class_name(best->path)) best = &column;
  }
  if (best == nullptr) throw ValueError("has no column that is called as classes are");
  return static_cast<std::size_t>(best - columns.data());
}

std::span<const std::byte> ClassText::to_text(std::span<const std::byte> number, bool is_signed) {
  std::uint64_t value = 0;
  const std::size_t size = std::min(number.size(), sizeof value);
  std::memcpy(&value, number.data(), size);
  const std::size_t unused = 8 * (sizeof value - size);
  if (is_signed && size > 0) {
    const auto shifted = static_cast<std::int64_t>(value << unused);
    text_ = std::to_string(shifted >> unused);
  } else {
    text_ = std::to_string(value);
  }
  return std::as_bytes(std::span(text_));
}

}  // namespace loaderscope::source
