// Files of /proc and of cgroups that contain pairs of a key and a number.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope {

inline constexpr std::int64_t kKibi = 1024;  // bytes: the unit of amounts of memory there

// All of a small file, or what `most` bytes and a little more hold of it; "" where it cannot be
// read. Without a stream: some are read often.
std::string text_of(const std::string& path, std::size_t most = std::size_t{1} << 20);

// Numbers between blanks, one after another.
class NumbersIn {
 public:
  explicit NumbersIn(std::string_view text) : text_(text) {}  // `text` must outlive this
  explicit NumbersIn(std::string&&) = delete;

  char letter();                       // a word of one letter
  std::optional<std::int64_t> next();  // missing if the next word is no number
  bool has_failed() const { return has_failed_; }

 private:
  void skip_blanks();

  std::string_view text_;
  bool has_failed_ = false;
};

// Returns the numbers of `keys`, in their order, from a file of "key value" or "key: value unit"
// lines. Reads the file once, because some are expensive for the kernel.
std::vector<std::optional<std::int64_t>> values_in(const std::string& path,
                                                   std::initializer_list<std::string_view> keys);

std::optional<std::int64_t> value_in(const std::string& path, std::string_view key);

}  // namespace loaderscope
