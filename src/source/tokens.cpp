#include "source/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "loaderscope/errors.h"
#include "source/named_files.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

// nanoGPT's, where no word and no index says another.
const NumberType& chosen_type(const FormatParameters& words) {
  const auto given = words.find("type");
  return number_type("type", given == words.end() ? "u16" : given->second);
}

PathFacts facts_of_tokens(const std::string& path) {
  const PathFacts facts = find_store(path).look_at(path);
  if (facts.kind != PathFacts::Kind::object)
    throw RunError(shown_text(path) + ": cannot be read (" +
                       (facts.why_nothing.empty() ? "is no file" : facts.why_nothing) + ")",
                   "check the path given with --data");
  return facts;
}

TokenFile raw_file(const std::string& path, const NumberType& type) {
  const PathFacts facts = facts_of_tokens(path);
  const Bytes size = facts.size;
  if (size % type.bytes != 0)
    throw RunError(fmt::format("{}: has {} bytes, which are no whole number of {} tokens",
                               shown_text(path), size, type.word),
                   "say what they are: tokens:PATH?type=u32");
  return {{path,
           {std::string(type.type), "()", size / type.bytes, type.bytes, 0, true},
           facts.stamp.inode},
          false,
          0};
}

TokenFile indexed_file(const std::string& path, const std::string& index_path,
                       const FormatParameters& words, const EachSequence& each) {
  const PathFacts facts = facts_of_tokens(path);
  const Bytes size = facts.size;
  const TokenIndex index = read_token_index(index_path, size, each);
  if (words.contains("type") && chosen_type(words).type != index.type)
    throw UsageError(
        fmt::format("type={}: {} says that its tokens are {}",
                    shown_text(words.find("type")->second), shown_text(index_path), index.type),
        "leave it out");
  if (index.end > size)
    throw RunError(fmt::format("{}: has {} bytes, and {} has an index of {}", shown_text(path),
                               size, shown_text(index_path), index.end),
                   "copy both again, as one is cut off");
  return {{path,
           {index.type, "()", index.end / index.token_bytes, index.token_bytes, 0, true},
           facts.stamp.inode},
          true,
          index.documents};
}

}  // namespace

TokenFile opened_tokens(const std::string& path, const FormatParameters& words,
                        const EachSequence& each) {
  const std::string index = path.substr(0, path.rfind('.')) + ".idx";
  return find_store(index).look_at(index).kind != PathFacts::Kind::nothing
             ? indexed_file(path, index, words, each)
             : raw_file(path, chosen_type(words));
}

}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_tokens(const SourceOptions& options, const SourceContext&) {
  if (options.words.contains("pad")) return source::open_padded_tokens(options);
  const source::Windows windows = source::parse_windows(options.words, source::kUsualWindow);
  std::vector<source::ArrayFile> arrays;
  std::int64_t documents = 0;
  Bytes tokens = 0;
  for (const std::string& path : source::named_files(options.paths, source::kTokenSuffixes)) {
    const source::TokenFile file = source::opened_tokens(path, options.words);
    documents += file.documents;
    tokens += file.array.layout.rows;
    arrays.push_back(file.array);
  }
  auto source = std::make_unique<source::ArraySource>(options, arrays, windows);
  if (documents > 0)
    source->add_note(
        fmt::format("{} of {} tokens on average are packed: windows continue across their "
                    "ends",
                    plural(documents, "document"), format_count(tokens / documents)));
  source->settle_access();
  return source;
}

}  // namespace loaderscope

namespace loaderscope::source {

// Megatron's .idx: a magic word, version, type and counts; then the length of each sequence, where
// in the .bin each begins, and with which sequence each document does.

namespace {

constexpr std::string_view kMagic("MMIDIDX\0\0", 9);
constexpr Bytes kHeader = 34;
constexpr std::size_t kAtOnce = 1 << 16;  // sequences

// Types by their numbers, from 1.
constexpr std::array<std::string_view, 8> kTypes = {"|u1", "|i1", "<i2", "<i4",
                                                    "<i8", "<f8", "<f4", "<u2"};

class IndexFile {
 public:
  explicit IndexFile(const std::string& path) : path_(path), object_(opened()) {}

  [[noreturn]] void fail(const std::string& why) const {
    throw RunError(shown_text(path_) + ": " + why);
  }
  Bytes size() const { return object_->size(); }

  template <class Number>
  void read(Bytes offset, std::span<Number> to) const {
    std::size_t got = 0;
    try {
      got = object_->read(offset, std::as_writable_bytes(to));
    } catch (const ValueError& error) {
      fail(error.what());
    }
    if (got != to.size_bytes()) fail("is cut off; write the index again");
  }
  template <class Number>
  Number read(Bytes offset) const {
    Number number{};
    read(offset, std::span(&number, 1));
    return number;
  }

 private:
  std::unique_ptr<StoredObject> opened() const {
    try {
      return find_store(path_).open(path_);
    } catch (const ValueError& error) {
      fail(error.what());
    }
  }

  const std::string& path_;
  std::unique_ptr<StoredObject> object_;
};

// Returns the end of the last token.
Bytes end_of_sequences(const IndexFile& file, const TokenIndex& index, Bytes bin_bytes,
                       const EachSequence& each) {
  std::vector<std::int32_t> lengths(kAtOnce);
  std::vector<std::int64_t> begins(kAtOnce);
  Bytes end = 0, left = bin_bytes;
  for (std::int64_t first = 0; first < index.sequences; first += std::int64_t{kAtOnce}) {
    const auto count =
        static_cast<std::size_t>(std::min<std::int64_t>(kAtOnce, index.sequences - first));
    file.read(kHeader + 4 * first, std::span(lengths).first(count));
    file.read(kHeader + 4 * index.sequences + 8 * first, std::span(begins).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      Bytes document_end = 0;
      if (lengths[i] < 0 || begins[i] < 0 ||
          __builtin_add_overflow(begins[i], lengths[i] * index.token_bytes, &document_end))
        file.fail(fmt::format("sequence {} has {} tokens from byte {} on; write the index again",
                              first + static_cast<std::int64_t>(i), lengths[i], begins[i]));
      end = std::max(end, document_end);
      if (!each || document_end > bin_bytes) continue;
      left -= lengths[i] * index.token_bytes;
      if (left < 0)
        file.fail("has sequences of more tokens than the .bin has; write the index again");
      each(begins[i], lengths[i], index.token_bytes);
    }
  }
  return end;
}

}  // namespace

TokenIndex read_token_index(const std::string& path, Bytes bin_bytes, const EachSequence& each) {
  const IndexFile file(path);
  std::array<char, 9> magic{};
  file.read(0, std::span<char>(magic));
  if (std::string_view(magic.data(), magic.size()) != kMagic)
    file.fail("is no index of Megatron (MMIDIDX)");
  if (const auto version = file.read<std::uint64_t>(9); version != 1)
    file.fail(fmt::format("is an index of version {}; version 1 can be read", version));
  const std::size_t type = file.read<std::uint8_t>(17);
  if (type < 1 || type > kTypes.size())
    file.fail(fmt::format("has tokens of an unknown type, number {}", type));
  TokenIndex index;
  index.type = kTypes.at(type - 1);
  index.token_bytes = index.type[2] - '0';
  const auto sequences = file.read<std::uint64_t>(18), entries = file.read<std::uint64_t>(26);
  const auto most = static_cast<std::uint64_t>(file.size());
  if (sequences > most || entries > most ||
      kHeader + 12 * static_cast<Bytes>(sequences) + 8 * static_cast<Bytes>(entries) > file.size())
    file.fail(
        fmt::format("is cut off: {} sequences do not fit into {} bytes; write the index again",
                    sequences, file.size()));
  index.sequences = static_cast<std::int64_t>(sequences);
  index.documents = std::max<std::int64_t>(0, static_cast<std::int64_t>(entries) - 1);
  index.end = end_of_sequences(file, index, bin_bytes, each);
  return index;
}

}  // namespace loaderscope::source
