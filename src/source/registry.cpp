#include "source/registry.h"

namespace loaderscope {

std::span<const SourceRow> source_table() {
  static const SourceRow rows[] = {
      {{"synthetic", "No data: every stage takes what --cost declares for it."}},
      {{"files", "Image files: a folder per class, one flat folder, or a manifest (--index)."}},
  };
  return rows;
}

}  // namespace loaderscope
