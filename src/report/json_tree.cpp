#include "report/json_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxDepth = 32;

// Returns the number after the 'e'; 0 if `digits` is empty.
int parse_exponent(std::string_view digits) {
  constexpr int kBeyondAll = 1000;
  int exponent = 0;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const auto [end, failure] =
      std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  return failure == std::errc() ? exponent : kBeyondAll;
}

// The value of a number x 10^9, when that is whole and fits: 0.000087000 and 8.7e-05 are 87,000 ns.
std::optional<Nanos> exact_ns(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  const std::size_t mark = std::min(digits.find_first_of("eE"), digits.size());
  int zeros = 9;  // number of zeros to append
  if (mark < digits.size()) zeros += parse_exponent(digits.substr(mark + 1));
  Nanos value = 0;
  bool after_point = false;
  for (char c : digits.substr(0, mark)) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    if (__builtin_mul_overflow(value, 10, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, c - '0', &value)) return std::nullopt;
    if (after_point) --zeros;
  }
  for (; value != 0 && zeros < 0; ++zeros) {
    if (value % 10 != 0) return std::nullopt;
    value /= 10;
  }
  for (; value != 0 && zeros > 0; --zeros) {
    if (__builtin_mul_overflow(value, 10, &value)) return std::nullopt;
  }
  return negative ? -value : value;
}

// A stream for the parser, which reads one letter at a time. Blocks make it faster: the streambuf
// calls alone take a fifth of the time to read a result of a million steps.
class Blocks {
 public:
  explicit Blocks(std::istream& input) : input_(input), block_(std::size_t{1} << 18) { fetch(); }

  class Letter {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    explicit Letter(Blocks* blocks = nullptr) : blocks_(blocks) {}
    const char& operator*() const { return *blocks_->at_; }
    Letter& operator++() {
      if (++blocks_->at_ == blocks_->end_) blocks_->fetch();
      return *this;
    }
    // Only asked against the end.
    bool operator==(const Letter&) const { return blocks_ == nullptr || blocks_->is_at_end(); }

   private:
    Blocks* blocks_;
  };

  bool is_at_end() const { return at_ == end_; }

 private:
  void fetch() {
    input_.read(block_.data(), static_cast<std::streamsize>(block_.size()));
    at_ = block_.data();
    end_ = at_ + input_.gcount();
  }

  std::istream& input_;
  std::vector<char> block_;
  const char *at_ = nullptr, *end_ = nullptr;
};

// Receives the parser's events and builds the tree.
class Builder {
 public:
  Builder(const Blocks& input, const std::string& place, const JsonReading& reading)
      : input_(input), place_(place), reading_(reading) {}

  bool null() { return add({}); }
  bool boolean(bool value) {
    JsonNode node;
    node.kind = JsonNode::Kind::boolean;
    node.boolean = value;
    return add(std::move(node));
  }
  bool number_integer(std::int64_t value) {
    JsonNode node;
    node.kind = JsonNode::Kind::integer;
    node.integer = value;
    node.real = static_cast<double>(value);
    Nanos ns = 0;
    if (!__builtin_mul_overflow(value, kSecond, &ns)) node.ns = ns;
    return add(std::move(node));
  }
  bool number_unsigned(std::uint64_t value) {
    if (value <= static_cast<std::uint64_t>(INT64_MAX)) {
      return number_integer(static_cast<std::int64_t>(value));
    }
    JsonNode node;
    node.kind = JsonNode::Kind::real;
    node.real = static_cast<double>(value);
    return add(std::move(node));
  }
  bool number_float(double value, const std::string& digits) {
    JsonNode node;
    node.kind = JsonNode::Kind::real;
    node.real = value;
    node.ns = exact_ns(digits);
    return add(std::move(node));
  }
  bool string(std::string& value) {
    JsonNode node;
    node.kind = JsonNode::Kind::text;
    node.text = std::move(value);
    return add(std::move(node));
  }
  bool binary(nlohmann::json::binary_t&) { return false; }

  bool start_object(std::size_t) { return open(JsonNode::Kind::object); }
  bool start_array(std::size_t) { return open(JsonNode::Kind::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    open_.back()->keys.push_back(std::move(name));
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) {
    const std::string_view message = error.what();
    if (message.find("number overflow") != message.npos) {
      throw RunError(
          fmt::format("{}: a number near byte {} is too large{}", place_, position, kSaveAgain));
    }
    if (input_.is_at_end() && !open_.empty()) {
      throw RunError(
          fmt::format("{}: the file is cut off at byte {}{}", place_, position, kSaveAgain));
    }
    throw RunError(fmt::format("{}: not JSON (byte {})", place_, position),
                   "give a result that 'loaderscope run --json' saved");
  }

  JsonNode take_root() { return std::move(root_); }

 private:
  bool open(JsonNode::Kind kind) {
    if (open_.size() >= kMaxDepth) {
      throw RunError(fmt::format("{}: nested deeper than any result", place_),
                     "give a result that 'loaderscope run --json' saved");
    }
    JsonNode node;
    node.kind = kind;
    // Only the innermost open container grows, so the addresses of the others hold.
    open_.push_back(place(std::move(node)));
    return true;
  }

  bool close() {
    open_.pop_back();
    closed();
    return true;
  }

  bool add(JsonNode node) {
    place(std::move(node));
    closed();
    return true;
  }

  JsonNode* place(JsonNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return &root_;
    }
    open_.back()->items.push_back(std::move(node));
    return &open_.back()->items.back();
  }

  bool is_streamed(std::string_view key) const {
    return std::find(reading_.streamed.begin(), reading_.streamed.end(), key) !=
           reading_.streamed.end();
  }

  // A value is complete: an element of a streamed array, or a member of the document.
  void closed() {
    if (open_.empty() || root_.kind != JsonNode::Kind::object) return;
    const std::string_view member = root_.keys.back();
    if (open_.size() == 1) {
      if (reading_.see_member) reading_.see_member(member, root_.items.back());
    } else if (open_.size() == 2 && open_.back()->kind == JsonNode::Kind::array &&
               is_streamed(member)) {
      reading_.take_element(member, open_.back()->items.back());
      open_.back()->items.clear();
    }
  }

  const Blocks& input_;
  const std::string& place_;
  const JsonReading& reading_;
  JsonNode root_;
  std::vector<JsonNode*> open_;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size() && i < items.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

JsonNode read_json(std::istream& input, const std::string& place, const JsonReading& reading) {
  Blocks blocks(input);
  Builder builder(blocks, place, reading);
  nlohmann::json::sax_parse(Blocks::Letter(&blocks), Blocks::Letter(), &builder);
  return builder.take_root();
}

}  // namespace loaderscope
