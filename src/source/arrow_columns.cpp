#include "source/arrow_values.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope::source {
namespace {

struct ArrowType {
  enum : std::uint8_t {
    nulls = 1,
    number = 2,
    binary = 4,
    text = 5,
    list = 12,
    structure = 13,
    any_of = 14,
    fixed_list = 16,
    map = 17,
    large_binary = 19,
    large_text = 20,
    large_list = 21,
    runs = 22,
    binary_view = 23,
    text_view = 24,
    list_view = 25,
    large_list_view = 26,
  };
};

std::string_view arrow_type_name(std::uint8_t type) {
  static constexpr std::array<std::string_view, 27> kNames = {
      "nothing",      "nulls",      "whole numbers",  "real numbers",
      "binary",       "text",       "truth",          "decimals",
      "dates",        "times",      "points in time", "intervals",
      "lists",        "structs",    "unions",         "fixed-size binary",
      "lists",        "maps",       "durations",      "large_binary",
      "large_string", "lists",      "runs",           "binary views",
      "text views",   "list views", "list views"};
  return type < kNames.size() ? kNames[type] : "an unknown type";
}

bool is_arrow_list(std::uint8_t type) {
  return type == ArrowType::list || type == ArrowType::fixed_list || type == ArrowType::map ||
         type == ArrowType::large_list || type == ArrowType::list_view ||
         type == ArrowType::large_list_view || type == ArrowType::runs || type == ArrowType::any_of;
}

bool is_view(std::uint8_t type) {
  return type == ArrowType::binary_view || type == ArrowType::text_view;
}

TableColumn::Holds held_by(const ArrowField& field) {
  using Holds = TableColumn::Holds;
  switch (field.type) {
    case ArrowType::binary:
    case ArrowType::large_binary:
    case ArrowType::binary_view:
      return Holds::bytes;
    case ArrowType::text:
    case ArrowType::large_text:
    case ArrowType::text_view:
      return Holds::text;
    case ArrowType::number:
      return field.bits == 8 || field.bits == 16 || field.bits == 32 || field.bits == 64
                 ? Holds::numbers
                 : Holds::other;
    default:
      return Holds::other;
  }
}

ArrowColumn column_of_field(const ArrowField& field) {
  ArrowColumn column;
  column.type = arrow_type_name(field.type);
  column.holds = held_by(field);
  if (field.dictionary) {
    column.type = "a dictionary of " + column.type;
    if (column.holds == TableColumn::Holds::numbers) column.holds = TableColumn::Holds::other;
  }
  if (column.holds == TableColumn::Holds::numbers) {
    column.width = static_cast<std::size_t>(field.bits / 8);
    column.is_signed = field.is_signed;
  }
  return column;
}

// Goes through all fields as their nodes and buffers lie.
class FieldWalk {
 public:
  using See = std::function<void(ArrowColumn, const LeafPlace&, const ArrowField&)>;
  FieldWalk(const std::vector<std::int64_t>& extra_buffers, See see)
      : extra_buffers_(extra_buffers), see_(std::move(see)) {}

  void over(const std::vector<ArrowField>& fields) {
    for (const ArrowField& field : fields) enter(field, "", {}, false);
  }

 private:
  void enter(const ArrowField& field, std::string path, LeafPlace place, bool is_list) {
    path = paths_.within(path, field.name);
    place.nodes.push_back(node_++);
    place.validities.push_back(buffer_);
    const std::size_t buffers = field.dictionary ? 2 : count_buffers(field.type);
    place.offsets = buffer_ + 1;
    place.values = buffer_ + buffers - 1;
    place.has_large_offsets =
        field.type == ArrowType::large_binary || field.type == ArrowType::large_text;
    place.holds_views = is_view(field.type);
    buffer_ += buffers;
    const bool is_leaf = field.dictionary || field.children.empty();
    if (is_leaf) {
      ArrowColumn column = column_of_field(field);
      column.path = std::move(path);
      column.is_list = is_list;
      return see_(std::move(column), place, field);
    }
    for (const ArrowField& child : field.children)
      enter(child, path, place, is_list || is_arrow_list(field.type));
  }

  std::size_t count_buffers(std::uint8_t type) {
    switch (type) {
      case ArrowType::nulls:
      case ArrowType::runs:
        return 0;
      case ArrowType::structure:
      case ArrowType::fixed_list:
        return 1;
      case ArrowType::binary:
      case ArrowType::text:
      case ArrowType::large_binary:
      case ArrowType::large_text:
      case ArrowType::list_view:
      case ArrowType::large_list_view:
        return 3;
      case ArrowType::binary_view:
      case ArrowType::text_view:
        return 2 + extra_buffers_of_next();
      case ArrowType::any_of:
        throw ValueError("has a column of unions, which is not read", "write it without");
      default:
        if (type == 0 || type > ArrowType::large_list_view)
          throw ValueError(
              fmt::format("has a column of a type with the number {}, which is not read", type),
              "write it without");
        return 2;
    }
  }

  std::size_t extra_buffers_of_next() {
    if (extra_ == extra_buffers_.size()) return 0;
    const std::int64_t more = extra_buffers_[extra_++];
    if (more < 0 || more > (1 << 30))
      throw ValueError("is damaged: a column has no end of buffers");
    return static_cast<std::size_t>(more);
  }

  const std::vector<std::int64_t>& extra_buffers_;
  See see_;
  ColumnPaths paths_;
  std::size_t node_ = 0, buffer_ = 0, extra_ = 0;
};

}  // namespace

std::vector<ArrowColumn> arrow_columns(const std::vector<ArrowField>& fields) {
  std::vector<ArrowColumn> columns;
  FieldWalk({}, [&](ArrowColumn column, const LeafPlace&, const ArrowField&) {
    columns.push_back(std::move(column));
  }).over(fields);
  return columns;
}

ArrowField field_of_leaf(const std::vector<ArrowField>& fields, std::size_t leaf) {
  ArrowField found;
  std::size_t number = 0;
  FieldWalk({}, [&](const ArrowColumn&, const LeafPlace&, const ArrowField& field) {
    if (number++ == leaf) found = field;
  }).over(fields);
  return found;
}

LeafPlace place_in_batch(const std::vector<ArrowField>& fields, const ArrowBatch& batch,
                         std::size_t leaf) {
  LeafPlace found;
  std::size_t number = 0;
  FieldWalk(batch.extra_buffers, [&](const ArrowColumn&, const LeafPlace& place,
                                     const ArrowField&) {
    if (number++ == leaf) found = place;
  }).over(fields);
  const bool fits =
      found.nodes.back() < batch.rows_of_nodes.size() && found.values < batch.buffers.size();
  if (!fits) throw ValueError("is damaged: a record batch lacks a part of the column");
  return found;
}

}  // namespace loaderscope::source
