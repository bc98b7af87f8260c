// Tokens of text as samples: windows of a file of numbers, in the format of nanoGPT, or of
// Megatron's .bin, which a .idx describes.
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

// Contents of a .idx about its .bin.
struct TokenIndex {
  std::string type;  // "<u2"
  Bytes token_bytes = 0;
  std::int64_t sequences = 0, documents = 0;
  Bytes end = 0;  // end of the last token in the .bin
};
// Receives each sequence in order: its first byte in the .bin, and its number of tokens.
using EachSequence = std::function<void(Bytes begin, std::int64_t tokens, Bytes token_bytes)>;
// Reads a .idx. `bin_bytes` is the size of the .bin. `each` is not called for sequences after its
// end, which TokenIndex::end reveals. Throws RunError with the path for a truncated file, another
// version or type, or a sequence with a negative size or place. With `each`, it also throws for
// more tokens than the .bin has.
TokenIndex read_token_index(const std::string& path,
                            Bytes bin_bytes = std::numeric_limits<Bytes>::max(),
                            const EachSequence& each = {});

struct TokenFile {
  ArrayFile array;
  bool has_index = false;
  std::int64_t documents = 0;  // 0: unknown
};
// Opens a .bin, with the .idx next to it if it exists. Throws RunError, UsageError.
TokenFile opened_tokens(const std::string& path, const FormatParameters& words,
                        const EachSequence& each = {});

// Makes each sequence a sample, with the parameter `pad`.
std::unique_ptr<Source> open_padded_tokens(const SourceOptions& options);

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for parameters that do not fit the files.
std::unique_ptr<Source> open_tokens(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
