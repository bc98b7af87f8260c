#include "source/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "loaderscope/errors.h"
#include "source/named_files.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

ArrayFile opened_array(const std::string& path, bool has_window) {
  const auto fail = [&](const std::string& why) { throw RunError(shown_text(path) + ": " + why); };
  std::vector<std::byte> begin(kMaxNpyHeader);
  ArrayFile array{path, {}, 0};
  Bytes size = 0;
  try {
    const std::unique_ptr<StoredObject> object = find_store(path).open(path);
    size = object->size();
    array.stamp = object->stamp().inode;
    array.layout = parse_npy_header(std::span(begin).first(object->read(0, begin)));
  } catch (const ValueError& error) {
    fail(error.what());
  }
  check_length(array, size);
  if (array.layout.is_flat && !has_window)
    fail("is one long row of numbers; say how many make a sample: npy:PATH?length=1024");
  return array;
}

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_npy(const SourceOptions& options, const SourceContext&) {
  const source::Windows windows = source::parse_windows(options.words, 1);
  std::vector<source::ArrayFile> arrays;
  for (const std::string& path : source::named_files(options.paths, source::kNpySuffixes))
    arrays.push_back(source::opened_array(path, options.words.contains("length")));
  auto source = std::make_unique<source::ArraySource>(options, arrays, windows);
  source->settle_access();
  return source;
}

}  // namespace loaderscope

namespace loaderscope::source {

// The header of a .npy file: a magic word, its length, and a Python dictionary in a fixed order.

namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

[[noreturn]] void refuse(const std::string& why) { throw ValueError(why); }

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Parser of text that another program wrote. Every step names what it expects.
class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}

  bool takes(std::string_view word) {
    while (left_.starts_with(' ')) left_.remove_prefix(1);
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    return true;
  }
  void demand(std::string_view word) {
    if (!takes(word)) refuse("its NumPy header is damaged");
  }
  std::string_view quoted() {
    const bool single = takes("'");
    if (!single) demand("\"");
    const std::string_view text = left_.substr(0, left_.find(single ? '\'' : '"'));
    left_.remove_prefix(text.size());
    demand(single ? "'" : "\"");
    return text;
  }
  bool truth() {
    if (takes("True")) return true;
    demand("False");
    return false;
  }
  Bytes number() {
    takes("");  // spaces
    Bytes value = 0;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    if (error != std::errc() || value < 0) refuse("its NumPy header is damaged");
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return value;
  }

 private:
  std::string_view left_;
};

// "<f4", "|u1", "<M8[ns]": the order of bytes, a kind, a size.
Bytes bytes_of_type(std::string_view type) {
  constexpr std::string_view kKinds = "?biufcmMSUV";
  Bytes size = 0;
  const bool is_known =
      type.size() >= 3 && kKinds.find(type[1]) != kKinds.npos &&
      std::from_chars(type.data() + 2, type.data() + type.size(), size).ec == std::errc() &&
      size > 0 && size < (Bytes{1} << 32);
  if (!is_known) {
    refuse(
        fmt::format("holds values of the type '{}', which are not plain numbers; save them as "
                    "numbers",
                    shown_text(type)));
  }
  return type[1] == 'U' ? 4 * size : size;
}

Bytes multiplied(Bytes a, Bytes b) {
  Bytes product = 0;
  if (__builtin_mul_overflow(a, b, &product)) refuse("says that it has more than 2^63 bytes");
  return product;
}

void read_shape(Reader& reader, ArrayLayout& header) {
  std::vector<Bytes> axes;
  reader.demand("(");
  while (!reader.takes(")")) {
    if (!axes.empty()) reader.demand(",");
    if (reader.takes(")")) break;
    axes.push_back(reader.number());
  }
  if (axes.empty()) refuse("holds a single number, no samples");
  header.rows = axes.front();
  header.is_flat = axes.size() == 1;
  header.shape = fmt::format("({})", fmt::join(axes.begin() + 1, axes.end(), ", "));
  header.row_bytes = 1;
  for (std::size_t i = 1; i < axes.size(); ++i)
    header.row_bytes = multiplied(header.row_bytes, axes[i]);
}

}  // namespace

ArrayLayout parse_npy_header(std::span<const std::byte> file_begin) {
  const std::string_view file(reinterpret_cast<const char*>(file_begin.data()), file_begin.size());
  if (!file.starts_with(kNpyMagic) || file.size() < 12) refuse("is no NumPy array (.npy)");
  const std::size_t length_bytes = file[6] == 1 ? 2 : 4;  // the version
  const std::size_t text_begin = 8 + length_bytes;
  const std::size_t length = little_endian(file.substr(8, length_bytes));
  if (length > kMaxNpyHeader - text_begin) refuse("has a NumPy header of more than 64 KiB");
  if (file.size() < text_begin + length) refuse("ends within its NumPy header");

  ArrayLayout header;
  header.begin = static_cast<Bytes>(text_begin + length);
  Reader reader(file.substr(text_begin, length));
  bool is_by_column = false;
  reader.demand("{");
  while (!reader.takes("}")) {
    const std::string_view key = reader.quoted();
    reader.demand(":");
    if (key == "descr") {
      if (reader.takes("[")) refuse("holds records of several fields; save each as an array");
      header.type = reader.quoted();
    } else if (key == "fortran_order") {
      is_by_column = reader.truth();
    } else if (key == "shape") {
      read_shape(reader, header);
    } else {
      refuse("its NumPy header is damaged");
    }
    reader.takes(",");
  }
  if (header.shape.empty()) refuse("its NumPy header is damaged");
  if (is_by_column && !header.is_flat)
    refuse("is laid out column by column; save it with numpy.ascontiguousarray");
  header.row_bytes = multiplied(header.row_bytes, bytes_of_type(header.type));
  return header;
}

}  // namespace loaderscope::source
