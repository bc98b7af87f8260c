// The bytes that a fuzzer hands in, as a file of tables: whichever column is chosen, it is refused
// or what is taken of it lies within the bytes.
#pragma once

#include "fuzz/stored_object.h"
#include "loaderscope/errors.h"
#include "source/table_columns.h"

namespace loaderscope::fuzz {

inline constexpr Bytes kMaxTable = Bytes{1} << 20;  // unpacked bytes at once

template <class Use>
void or_refused(const Use& use) {
  try {
    use();
  } catch (const ValueError&) {
  } catch (const SampleError&) {
  }
}

// `read` gives the layout of an object, `groups` its groups; `take` one of these, with the layout.
template <class Read, class Groups, class Take>
void take_table(Stored bytes, const Read& read, const Groups& groups, const Take& take) {
  for (const auto choose : {source::choose_image_column, source::choose_class_column}) {
    or_refused([&] {
      Memory file(bytes);
      const auto layout = read(file, choose);
      for (const auto& group : groups(layout)) {
        if (group.rows <= 0 || group.begin < 0 || group.length < 0 ||
            group.length > std::ssize(bytes) - group.begin)
          __builtin_trap();
        or_refused([&] {
          take(bytes.subspan(static_cast<std::size_t>(group.begin),
                             static_cast<std::size_t>(group.length)),
               group, layout);
        });
      }
    });
  }
}

}  // namespace loaderscope::fuzz
