#include "source/npy.h"

#include <memory>
#include <vector>

#include "loaderscope/errors.h"
#include "source/named_files.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

ArrayFile opened_array(const std::string& path, bool has_window) {
  const auto fail = [&](const std::string& why) { throw RunError(shown_text(path) + ": " + why); };
  std::vector<std::byte> begin(kMaxNpyHeader);
  ArrayFile array{path, {}, 0};
  Bytes size = 0;
  try {
    const std::unique_ptr<StoredObject> object = store_of(path).open(path);
    size = object->size();
    array.stamp = object->stamp().inode;
    array.layout = parse_npy_header(std::span(begin).first(object->read(0, begin)));
  } catch (const ValueError& error) {
    fail(error.what());
  }
  check_length(array, size);
  if (array.layout.is_flat && !has_window)
    fail("is one long row of numbers; say how many make a sample: npy:PATH?length=1024");
  return array;
}

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_npy(const SourceOptions& options, const SourceContext&) {
  const source::Windows windows = source::windows_of(options.words, 1);
  std::vector<source::ArrayFile> arrays;
  for (const std::string& path : source::named_files(options.paths, source::kNpySuffixes))
    arrays.push_back(source::opened_array(path, options.words.contains("length")));
  auto source = std::make_unique<source::ArraySource>(options, arrays, windows);
  source->settle_access();
  return source;
}

}  // namespace loaderscope
