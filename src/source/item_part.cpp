#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/image_formats.h"
#include "loaderscope/errors.h"
#include "source/items.h"
#include "source/shard_bytes.h"

namespace loaderscope::source {
namespace {

constexpr std::size_t kNumber = sizeof(std::uint32_t);

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t number) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + number * kNumber, kNumber);
  return value;
}

bool is_one_of(std::string_view encoding, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), encoding.substr(0, encoding.find(':'))) !=
         words.end();
}

bool holds_images(const ItemField& field) {
  static constexpr std::array<std::string_view, 4> kImages = {"jpeg", "png", "pil", "image"};
  return is_one_of(field.encoding, kImages);
}

bool may_hold_images(const ItemField& field) {
  static constexpr std::array<std::string_view, 2> kBytes = {"bytes", "file"};
  return holds_images(field) || is_one_of(field.encoding, kBytes);
}

std::string names_of_fields(const std::vector<ItemField>& fields) {
  std::string names;
  for (const ItemField& field : fields) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", shown_text(field.name),
                         shown_text(field.encoding));
  }
  return names;
}

std::size_t chosen_field(const std::vector<ItemField>& fields, std::string_view wanted) {
  const auto found = [&]() {
    if (!wanted.empty())
      return std::find_if(fields.begin(), fields.end(),
                          [&](const ItemField& field) { return field.name == wanted; });
    const auto image = std::find_if(fields.begin(), fields.end(), holds_images);
    return image != fields.end() ? image
                                 : std::find_if(fields.begin(), fields.end(), may_hold_images);
  }();
  if (found == fields.end()) {
    throw ValueError(fmt::format("has no column {}, only {}",
                                 wanted.empty() ? "of images" : shown_text(wanted),
                                 names_of_fields(fields)));
  }
  if (!may_hold_images(*found)) {
    throw ValueError(fmt::format("its column {} is no image, and its columns are {}",
                                 shown_text(found->name), names_of_fields(fields)));
  }
  return static_cast<std::size_t>(found - fields.begin());
}

TableColumn table_column(const ItemField& field) {
  static constexpr std::array<std::string_view, 5> kSigned = {"int", "int8", "int16", "int32",
                                                              "int64"};
  static constexpr std::array<std::string_view, 4> kUnsigned = {"uint8", "uint16", "uint32",
                                                                "uint64"};
  static constexpr std::array<std::string_view, 3> kTexts = {"str", "str_int", "string"};
  TableColumn column{field.name, field.encoding, TableColumn::Holds::other, false};
  if (is_one_of(field.encoding, kSigned) || is_one_of(field.encoding, kUnsigned))
    column.holds = TableColumn::Holds::numbers;
  if (is_one_of(field.encoding, kTexts)) column.holds = TableColumn::Holds::text;
  return column;
}

std::size_t class_field(const std::vector<ItemField>& fields, std::string_view wanted) {
  std::vector<TableColumn> columns;
  for (const ItemField& field : fields) columns.push_back(table_column(field));
  return choose_class_column(columns, wanted);
}

[[noreturn]] void fail_in_item(const std::string& why) {
  throw SampleError(SampleError::Kind::damaged, why);
}

// Width, height and the length of a mode, as 32-bit numbers; the mode; the pixels as PIL has them.
std::span<const std::byte> image_of_pixels(std::span<const std::byte> field,
                                           std::vector<std::byte>& image) {
  constexpr std::size_t kNumbers = 3 * kNumber;
  const std::size_t mode_bytes = field.size() < kNumbers ? field.size() : number_at(field, 2);
  if (mode_bytes > field.size() - std::min(field.size(), kNumbers))
    fail_in_item("its pixels end within their header");
  const std::string_view mode(reinterpret_cast<const char*>(field.data() + kNumbers), mode_bytes);
  const std::size_t channels = mode == "RGB" ? 3 : mode == "L" ? 1 : 0;
  if (channels == 0) {
    throw SampleError(SampleError::Kind::unsupported,
                      fmt::format("its pixels are '{}'", shown_text(mode)), "use RGB or L");
  }
  const std::span<const std::byte> pixels = field.subspan(kNumbers + mode_bytes);
  const std::uint32_t width = number_at(field, 0), height = number_at(field, 1);
  if (std::uint64_t{width} * height != pixels.size() / channels || pixels.size() % channels != 0)
    fail_in_item(fmt::format("has {} bytes of pixels and says that it has {} x {}", pixels.size(),
                             width, height));
  put_raw_image(width, height, channels, pixels, image);
  return image;
}

}  // namespace

ItemPart::ItemPart(std::vector<ItemField> fields, std::string_view wanted, bool classes)
    : fields_(std::move(fields)),
      chosen_(classes ? class_field(fields_, wanted) : chosen_field(fields_, wanted)) {
  const std::string_view encoding = fields_[chosen_].encoding;
  is_pixels_ = !classes && encoding == "pil";
  is_number_ = classes && table_column(fields_[chosen_]).holds == TableColumn::Holds::numbers;
  is_signed_ = encoding.starts_with("int");
  for (const ItemField& field : fields_) sizes_ += field.size ? 0U : 1U;
}

std::span<const std::byte> ItemPart::select_field(std::span<const std::byte> item) const {
  const std::size_t head = sizes_ * kNumber;
  if (item.size() < head) fail_in_item("ends within the sizes of its columns");
  std::size_t next = 0;
  std::uint64_t at = head, begin = 0, size = 0;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::uint64_t bytes =
        fields_[i].size ? static_cast<std::uint64_t>(*fields_[i].size) : number_at(item, next++);
    if (i == chosen_) {
      begin = at;
      size = bytes;
    }
    at += bytes;
  }
  if (at != item.size())
    fail_in_item(fmt::format("has {} bytes, and its columns have {}", item.size(), at));
  if (size == 0) throw SampleError(SampleError::Kind::truncated, "is empty");
  return item.subspan(begin, size);
}

std::span<const std::byte> ItemPart::extract(std::span<const std::byte> item) {
  const std::span<const std::byte> field = select_field(item);
  if (is_number_ && field.size() > sizeof(std::int64_t))
    fail_in_item("has a class of more than 64 bits");
  if (is_number_) return class_.to_text(field, is_signed_);
  return is_pixels_ ? image_of_pixels(field, image_) : field;
}

std::vector<std::uint32_t> read_item_offsets(ShardBytes& shard, std::int64_t items,
                                             Bytes shard_bytes) {
  std::uint32_t count = 0;
  const std::size_t got = shard.read(0, std::as_writable_bytes(std::span(&count, 1)));
  if (got < kNumber || std::int64_t{count} != items) {
    throw ValueError(
        fmt::format("has {} samples, and index.json says {}", got < kNumber ? 0 : count, items),
        "write it again");
  }
  const Bytes begin = static_cast<Bytes>(kNumber) * (items + 2);
  const auto cut = [&] {
    return ValueError(
        fmt::format("is cut off: {} samples do not fit into {} bytes", items, shard_bytes));
  };
  if (begin > shard_bytes) throw cut();
  std::vector<std::uint32_t> offsets(static_cast<std::size_t>(items) + 1);
  const auto to = std::as_writable_bytes(std::span(offsets));
  if (shard.read(static_cast<Bytes>(kNumber), to) < to.size()) throw cut();
  if (offsets.front() < begin || !std::is_sorted(offsets.begin(), offsets.end()))
    throw ValueError("is damaged: its samples do not follow one another");
  return offsets;
}

const OpenShard& find_shard(const std::vector<OpenShard>& shards, std::int64_t sample) {
  const auto position =
      std::upper_bound(shards.begin(), shards.end(), sample,
                       [](std::int64_t i, const OpenShard& shard) { return i < shard.first; });
  return *(position - 1);
}

}  // namespace loaderscope::source
