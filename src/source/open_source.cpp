// Parsing of --data, and opening of the data set that it names.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/old_words.h"
#include "loaderscope/errors.h"
#include "source/named_files.h"
#include "source/registry.h"
#include "source/store.h"

namespace loaderscope {
namespace {

constexpr const char* kEndpoint = "endpoint";

const SourceRow* named_before_colon(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == text.npos) return nullptr;
  for (const SourceRow& row : source_table()) {
    if (row.row.name == text.substr(0, colon)) return &row;
  }
  return nullptr;
}

// Returns true for data of any row at an S3 store with an endpoint.
bool has_endpoint(std::string_view text) {
  const auto words = text.rfind('?');
  return text.starts_with("s3://") && words != text.npos &&
         text.find(kEndpoint + std::string("="), words) != text.npos;
}

// A row without words of its own leaves what looks like one to the path.
std::string_view path_before_words(std::string_view text, const SourceRow* row) {
  const bool has_words = (row != nullptr && !row->words.empty()) || has_endpoint(text);
  return has_words ? text.substr(0, text.rfind('?')) : text;
}

const SourceRow* known_by_its_end(std::string_view text) {
  for (const SourceRow& row : source_table()) {
    if (row.is_named_as(path_before_words(text, &row))) return &row;
  }
  return nullptr;
}

void add_word(std::string_view word, DataText& data) {
  FormatParameters& to = data.words;
  const auto equals = word.find('=');
  const std::string_view name = current_word(WordKind::parameter, word.substr(0, equals));
  if (name == kEndpoint && equals != word.npos && data.path.starts_with("s3://")) {
    data.path = source::at_endpoint(data.path, word.substr(equals + 1));
    return;
  }
  std::vector<std::string_view> known = {kEndpoint};
  if (data.row != nullptr) known.assign(data.row->words.begin(), data.row->words.end());
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    std::string expected = "expected one of";
    for (const std::string_view each : known) expected += " " + std::string(each);
    throw ValueError(shown_text(name) + ": " + expected + suggestion(name, known));
  }
  if (equals == word.npos) throw ValueError(std::string(name) + ": expected NAME=VALUE");
  to.insert_or_assign(std::string(name), std::string(word.substr(equals + 1)));
}

}  // namespace

DataText parse_data(std::string_view text, std::string_view source) {
  DataText data{named_before_colon(text), "", {}};
  if (data.row != nullptr) {
    text.remove_prefix(data.row->row.name.size() + 1);
  } else if (!source.empty()) {
    data.row = &source_row(source);
  } else {
    data.row = known_by_its_end(text);
  }
  const std::string_view path = path_before_words(text, data.row);
  data.path = path;
  std::string_view words = text.substr(path.size());
  while (!words.empty()) {
    words.remove_prefix(1);  // '?' or '&'
    const std::string_view word = words.substr(0, words.find('&'));
    add_word(word, data);
    words.remove_prefix(word.size());
  }
  return data;
}

bool asks_for_stream(std::string_view source, const std::vector<std::string>& data) {
  return std::any_of(data.begin(), data.end(), [&](const std::string& text) {
    const DataText said = parse_data(text, source);
    return said.row != nullptr && !said.row->stream_word.empty() &&
           source::count_parameter(said.words, said.row->stream_word, 0, 0) > 0;
  });
}

std::unique_ptr<Source> open_source(std::string_view source, const std::vector<std::string>& data,
                                    SourceOptions options, const SourceContext& context) {
  for (const std::string& text : data) {
    DataText said = parse_data(text, source);
    options.paths.push_back(std::move(said.path));
    for (auto& [name, value] : said.words) {
      const auto [place, is_new] = options.words.emplace(name, value);
      if (is_new || place->second == value) continue;
      throw UsageError(
          "data = " + shown_text(text) + ": " + name + "=" + place->second + " was given before",
          "say it once for all of the data");
    }
  }
  options.stop_signal = context.stop_signal;
  source::set_manners(options);
  return source_row(source).open(options, context);
}

}  // namespace loaderscope

namespace loaderscope::source {
namespace {

constexpr std::int64_t kLooksAt = 1024;  // samples
constexpr int kBits = 40;

class Digest {
 public:
  void add(std::int64_t value) { state_ = mixed(state_, value); }
  void add(const std::string& text) {
    for (const char c : text) add(static_cast<std::int64_t>(c));
  }
  std::int64_t value() const { return static_cast<std::int64_t>(state_ >> (64 - kBits)); }

 private:
  std::uint64_t state_ = 0;
};

void add_extent(const Extents& extents, std::int64_t sample, Digest& to) {
  const Extent extent = extents.extent(sample);
  to.add(extent.offset);
  to.add(extent.length);
  std::string path;
  extents.get_path(extent.object, path);
  if (!is_remote(path)) to.add(local_store().look_at(path).size);
}

}  // namespace

std::int64_t source_fingerprint(const Source& source) {
  const std::int64_t samples = source.size();
  Digest digest;
  digest.add(samples);
  for (std::int64_t i = 0; i < std::min(samples, kLooksAt); ++i) {
    const std::int64_t sample = samples <= kLooksAt ? i : i * (samples / kLooksAt);
    const std::string place = source.describe(sample);
    digest.add(place.substr(place.rfind('/') + 1));  // wherever its folder lies
    if (source.extents() != nullptr) add_extent(*source.extents(), sample, digest);
  }
  return digest.value();
}

std::optional<Bytes> stored_size(const Source& source, std::int64_t sample) {
  const Extents* const extents = source.extents();
  if (extents == nullptr) return std::nullopt;
  const Extent extent = extents->extent(sample);
  if (extent.length != Extent::kToEnd) return extent.length;
  std::string path;
  extents->get_path(extent.object, path);
  if (is_remote(path)) return std::nullopt;
  return std::max<Bytes>(0, local_store().look_at(path).size - extent.offset);
}

}  // namespace loaderscope::source
