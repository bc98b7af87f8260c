#include <string_view>

#include "loaderscope/source.h"

namespace loaderscope {

std::string_view name_of(SampleError::Kind kind) {
  switch (kind) {
    case SampleError::Kind::unreadable:
      return "unreadable";
    case SampleError::Kind::truncated:
      return "truncated";
    case SampleError::Kind::damaged:
      return "damaged";
    case SampleError::Kind::unsupported:
      return "unsupported";
    case SampleError::Kind::too_large:
      return "too_large";
  }
  return "?";
}

}  // namespace loaderscope
