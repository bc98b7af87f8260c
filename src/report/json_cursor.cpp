#include "report/json_cursor.h"

#include <fmt/format.h>

#include "loaderscope/errors.h"

namespace loaderscope {

JsonCursor JsonCursor::at(std::string_view key) const& {
  expect_object();
  const JsonNode* found = node_.find(key);
  if (found == nullptr) fail(fmt::format("has no '{}'", key));
  return {*found, place_, this, key, 0};
}

void JsonCursor::expect_object() const {
  if (node_.kind != JsonNode::Kind::object) fail("is not an object");
}

void JsonCursor::expect_array(std::size_t least) const {
  if (node_.kind != JsonNode::Kind::array) fail("is not an array");
  if (size() < least) fail(fmt::format("has {} elements instead of {}", size(), least));
}

const std::string& JsonCursor::text() const {
  if (node_.kind != JsonNode::Kind::text) fail("is not a text");
  return node_.text;
}

bool JsonCursor::boolean() const {
  if (node_.kind != JsonNode::Kind::boolean) fail("is neither true nor false");
  return node_.boolean;
}

double JsonCursor::real() const {
  if (node_.kind != JsonNode::Kind::integer && node_.kind != JsonNode::Kind::real) {
    fail("is not a number");
  }
  return node_.real;
}

std::int64_t JsonCursor::integer(std::int64_t least, std::int64_t most) const {
  if (node_.kind != JsonNode::Kind::integer) fail("is not a whole number that fits into 64 bits");
  if (node_.integer < least || node_.integer > most) {
    fail(fmt::format("is {}, which is not between {} and {}", node_.integer, least, most));
  }
  return node_.integer;
}

Nanos JsonCursor::seconds(Nanos least, Nanos most) const {
  if (node_.kind != JsonNode::Kind::integer && node_.kind != JsonNode::Kind::real) {
    fail("is not a number of seconds");
  }
  if (!node_.ns) fail("is not a time with at most nine decimals and 292 years");
  if (*node_.ns < least || *node_.ns > most)
    fail(least >= 0 && *node_.ns < 0 ? "is negative" : "is out of range");
  return *node_.ns;
}

std::string JsonCursor::path() const {
  if (parent_ == nullptr) return std::string(key_);
  std::string path = parent_->path();
  if (parent_->node_.kind == JsonNode::Kind::array) return path + fmt::format("[{}]", index_);
  if (!path.empty()) path += ".";
  return path + std::string(key_);
}

void JsonCursor::fail(std::string_view what) const {
  const std::string where = path();
  throw RunError(
      fmt::format("{}: {} {}{}", place_, where.empty() ? "the document" : where, what, kSaveAgain));
}

}  // namespace loaderscope
