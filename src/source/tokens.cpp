#include "source/tokens.h"

#include <fmt/format.h>

#include <vector>

#include "loaderscope/errors.h"
#include "source/named_files.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

// nanoGPT's, where no word and no index says another.
const NumberType& type_of(const FormatParameters& words) {
  const auto given = words.find("type");
  return number_type("type", given == words.end() ? "u16" : given->second);
}

PathFacts facts_of_tokens(const std::string& path) {
  const PathFacts facts = store_of(path).look_at(path);
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
  if (words.contains("type") && type_of(words).type != index.type)
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
  return store_of(index).look_at(index).kind != PathFacts::Kind::nothing
             ? indexed_file(path, index, words, each)
             : raw_file(path, type_of(words));
}

}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_tokens(const SourceOptions& options, const SourceContext&) {
  if (options.words.contains("pad")) return source::open_padded_tokens(options);
  const source::Windows windows = source::windows_of(options.words, source::kUsualWindow);
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
