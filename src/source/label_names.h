// Labels as a manifest spells them. They become numbers once all are known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace loaderscope::source {

// Lets a map of strings be asked with a view.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using TextNumbers = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;

class LabelNames {
 public:
  // Returns the temporary number of `spelling`.
  std::int32_t add(std::string_view spelling);
  // Returns the label of each temporary number. If all spellings are whole numbers from 0 to 2^31 -
  // 1, labels are these numbers. Otherwise, labels are ranks of the names.
  std::vector<std::int32_t> labels() const;

 private:
  TextNumbers known_;
};

}  // namespace loaderscope::source
