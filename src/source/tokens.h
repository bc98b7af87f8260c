// Tokens of text as samples: windows of a file of numbers, as nanoGPT writes it, or of Megatron's
// .bin, which a .idx describes.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "source/arrays.h"

namespace loaderscope::source {

inline constexpr std::string_view kTokenSuffixes[] = {".bin"};
inline constexpr std::int64_t kUsualWindow = 1024;  // tokens

// What a .idx says of its .bin.
struct TokenIndex {
  std::string type;  // "<u2"
  Bytes token_bytes = 0;
  std::int64_t sequences = 0, documents = 0;
  Bytes end = 0;  // of the last token of all sequences, in the .bin
};
// Of each sequence, in their order: from which byte of the .bin on it has how many tokens.
using EachSequence = std::function<void(Bytes begin, std::int64_t tokens, Bytes token_bytes)>;
// `bin_bytes`: the size of the .bin. `each` is not called for what lies behind its end, which
// TokenIndex::end tells. Throws RunError naming the path: cut off, of another version or type,
// sequences of less than nothing or from before the file, and with `each`, of more tokens than the
// .bin has.
TokenIndex read_token_index(const std::string& path,
                            Bytes bin_bytes = std::numeric_limits<Bytes>::max(),
                            const EachSequence& each = {});

struct TokenFile {
  ArrayFile array;
  bool has_index = false;
  std::int64_t documents = 0;  // 0: not known
};
// Of a .bin, by the .idx beside it where there is one. Throws RunError, UsageError.
TokenFile opened_tokens(const std::string& path, const FormatParameters& words,
                        const EachSequence& each = {});

// Each sequence by itself, with the word `pad`.
std::unique_ptr<Source> open_padded_tokens(const SourceOptions& options);

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for words that do not fit the files.
std::unique_ptr<Source> open_tokens(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
