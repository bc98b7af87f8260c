#include "source/npy.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "loaderscope/errors.h"
#include "source/extent_opener.h"
#include "source/named_files.h"

namespace loaderscope::source {
namespace {

ArrayFile opened_array(const std::string& path, bool has_window) {
  const auto fail = [&](const std::string& why) { throw RunError(shown_text(path) + ": " + why); };
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::vector<std::byte> begin(kLargestNpyHeader);
  struct stat facts {};
  const ssize_t got = fd < 0 ? -1 : ::pread(fd, begin.data(), begin.size(), 0);
  if (got < 0 || ::fstat(fd, &facts) != 0)
    fail("cannot be read: " + std::generic_category().message(errno) +
         "; check the path given with --data");
  ArrayFile array{path, {}};
  try {
    array.layout = parse_npy_header(std::span(begin).first(static_cast<std::size_t>(got)));
  } catch (const ValueError& error) {
    fail(error.what());
  }
  check_length(array, facts.st_size);
  if (array.layout.is_flat && !has_window)
    fail("is one long row of numbers; say how many make a sample: npy:PATH?window=1024");
  return array;
}

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_npy(const SourceOptions& options, const SourceContext&) {
  const source::Windows windows = source::windows_of(options.words, 1);
  std::vector<source::ArrayFile> arrays;
  for (const std::string& path : source::named_files(options.paths, source::kNpySuffixes))
    arrays.push_back(source::opened_array(path, options.words.contains("window")));
  auto source = std::make_unique<source::ArraySource>(options, arrays, windows);
  source->settle_access();
  return source;
}

}  // namespace loaderscope
