// Tokens of text as samples: windows of a file of numbers, as nanoGPT writes it, or of Megatron's
// .bin, which a .idx describes.
#pragma once

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
// Throws RunError naming the path: cut off, of another version or type, sequences of less than
// nothing or from before the file.
TokenIndex read_token_index(const std::string& path);

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for words that do not fit the files.
std::unique_ptr<Source> open_tokens(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope
