// The Python script among the words of a command.
#pragma once

#include <algorithm>
#include <string_view>

namespace loaderscope {

// Returns true for a word such as "train.py". A flag with a value, such as --config=a.py, is none.
inline bool is_python_script(std::string_view word) {
  return word.ends_with(".py") && !word.starts_with('-');
}

// Returns an iterator to the first script, or the end.
template <class Words>
auto find_python_script(const Words& words) {
  return std::find_if(words.begin(), words.end(), is_python_script);
}

}  // namespace loaderscope
