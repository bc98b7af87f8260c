// JSON of any size, read as a stream. Each value comes with the keys of the levels above it.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/import/trace_stream.h"

namespace loaderscope::traces {

// The position of the parser: the latest key of each level. Null is read as -1.
class JsonLevels : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonLevels(const std::string& path, TraceStream& stream) : path_(path), stream_(stream) {}

  bool null() override { return read(-1, nullptr); }
  bool boolean(bool) override { return read(0, nullptr); }
  bool number_integer(std::int64_t value) override {
    return read(static_cast<double>(value), nullptr);
  }
  bool number_unsigned(std::uint64_t value) override {
    return read(static_cast<double>(value), nullptr);
  }
  bool number_float(double value, const std::string&) override { return read(value, nullptr); }
  bool string(std::string& value) override { return read(0, &value); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override;
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override;

 protected:
  virtual void number(double value) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void opened() = 0;
  virtual void closing() = 0;

  std::size_t depth() const { return depth_; }
  std::string_view key_at(std::size_t depth) const { return keys_.at(depth); }
  const std::string& path() const { return path_; }

 private:
  static constexpr std::size_t kMaxKey = 32, kMaxDepth = 64;

  bool read(double value, const std::string* string);
  bool open();
  bool close();

  const std::string& path_;
  TraceStream& stream_;
  std::size_t depth_ = 0;
  std::array<std::string, 5> keys_;
};

// All of it. Throws RunError where it is damaged, or no profile.
void parse(TraceStream& stream, JsonLevels& levels);

}  // namespace loaderscope::traces
