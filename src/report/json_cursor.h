// A value of a JSON document that is read, and the way to it for messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "report/json_tree.h"

namespace loaderscope {

// Lives on the stack below its parent, which a temporary cannot be.
class JsonCursor {
 public:
  JsonCursor(const JsonNode& node, const std::string& place, std::string_view root = "")
      : node_(node), place_(place), key_(root) {}

  JsonCursor at(std::string_view key) const&;  // throws when it is missing
  JsonCursor at(std::string_view key) const&& = delete;
  bool has(std::string_view key) const { return node_.find(key) != nullptr; }
  // Returns an element of an array, or the value of an object's member.
  JsonCursor item(std::size_t index) const& {
    const bool is_object = node_.kind == JsonNode::Kind::object;
    return {node_.items[index], place_, this, is_object ? key(index) : std::string_view(), index};
  }
  JsonCursor item(std::size_t index) const&& = delete;
  std::string_view key(std::size_t index) const { return node_.keys[index]; }
  std::size_t size() const { return node_.items.size(); }
  bool is_null() const { return node_.kind == JsonNode::Kind::null; }
  const JsonNode& node() const { return node_; }
  const std::string& place() const { return place_; }

  // Each throws when the value is of another kind or out of its range.
  void expect_object() const;
  void expect_array(std::size_t least = 0) const;  // `least`: smallest number of elements
  const std::string& text() const;
  bool boolean() const;
  double real() const;
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  std::int64_t count(std::int64_t most = kMaxCount) const { return integer(0, most); }
  Nanos seconds(Nanos least = -kLatest, Nanos most = kLatest) const;

  // Throws RunError: "PLACE: PATH WHAT; NEXT STEP".
  [[noreturn]] void fail(std::string_view what) const;

  static constexpr std::int64_t kMaxCount = std::int64_t{1} << 60;
  static constexpr Nanos kLatest = Nanos{1}
                                   << 61;  // 73 years; sums and differences of two still fit

 private:
  JsonCursor(const JsonNode& node, const std::string& place, const JsonCursor* parent,
             std::string_view key, std::size_t index)
      : node_(node), place_(place), parent_(parent), key_(key), index_(index) {}
  std::string path() const;

  const JsonNode& node_;
  const std::string& place_;
  const JsonCursor* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

}  // namespace loaderscope
