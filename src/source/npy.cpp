#include "source/npy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "loaderscope/errors.h"
#include "source/extent_opener.h"
#include "source/named_files.h"

namespace loaderscope::source {
namespace {

struct Array {
  std::string path;
  NpyHeader header;
  std::int64_t first_sample = 0;
};

NpyHeader read_header(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::vector<std::byte> begin(kLargestNpyHeader);
  struct stat facts {};
  const ssize_t got = fd < 0 ? -1 : ::pread(fd, begin.data(), begin.size(), 0);
  if (got < 0 || ::fstat(fd, &facts) != 0) {
    throw RunError(shown_text(path) + ": cannot be read: " +
                   std::generic_category().message(errno) + "; check the path given with --data");
  }
  NpyHeader header = parse_npy_header(std::span(begin).first(static_cast<std::size_t>(got)));
  Bytes data = 0;
  if (__builtin_mul_overflow(header.rows, header.row_bytes, &data) ||
      data > facts.st_size - header.begin) {
    throw ValueError(
        fmt::format("has {} bytes, fewer than the array that its header describes", facts.st_size));
  }
  return header;
}

class NpySource final : public ExtentSource {
 public:
  explicit NpySource(const SourceOptions& options)
      : ExtentSource(options),
        window_(count_of(options.words, "window", 1)),
        stride_(count_of(options.words, "stride", window_)),
        has_window_(options.words.contains("window")),
        roots_(options.paths) {
    for (const std::string& path : named_files(options.paths, kNpySuffixes)) add(path);
    if (samples_ == 0) {
      throw RunError(
          fmt::format("{}: no sample of {} rows fits into the arrays; give a smaller "
                      "window",
                      shown_text(arrays_.front().path), window_));
    }
    if (sample_bytes() > options.largest_sample) {
      throw RunError(fmt::format(
          "{}: a sample of {} rows has {}, more than the {} that one may have",
          shown_text(arrays_.front().path), window_, show_size(static_cast<double>(sample_bytes())),
          show_size(static_cast<double>(options.largest_sample))));
    }
  }

  std::int64_t size() const override { return samples_; }
  Bytes sample_bytes() const override { return window_ * arrays_.front().header.row_bytes; }
  std::string describe(std::int64_t sample) const override {
    const Array& array = array_of(sample);
    return fmt::format("{}[{}]", array.path, (sample - array.first_sample) * stride_);
  }

  std::int64_t objects() const override { return std::ssize(arrays_); }
  Extent extent(std::int64_t sample) const override {
    const Array& array = array_of(sample);
    const Bytes row = (sample - array.first_sample) * stride_;
    return {&array - arrays_.data(), array.header.begin + row * array.header.row_bytes,
            sample_bytes()};
  }
  void path_of(std::int64_t object, std::string& path) const override {
    path = arrays_[static_cast<std::size_t>(object)].path;
  }
  std::vector<std::string> roots() const override { return roots_; }

 private:
  void add(const std::string& path) {
    const auto fail = [&](const std::string& why) {
      throw RunError(shown_text(path) + ": " + why);
    };
    Array array{path, {}, samples_};
    try {
      array.header = read_header(path);
    } catch (const ValueError& error) {
      fail(error.what());
    }
    const NpyHeader& header = array.header;
    if (header.is_flat && !has_window_)
      fail("is one long row of numbers; say how many make a sample: npy:PATH?window=1024");
    if (header.row_bytes == 0) fail("has rows without a number");
    if (!arrays_.empty()) {
      const NpyHeader& first = arrays_.front().header;
      if (header.type != first.type || header.shape != first.shape)
        fail(fmt::format("has rows {} of {}, and {} has {} of {}; give arrays that are alike",
                         header.shape, header.type, shown_text(arrays_.front().path), first.shape,
                         first.type));
    }
    if (header.rows >= window_) samples_ += (header.rows - window_) / stride_ + 1;
    arrays_.push_back(std::move(array));
  }

  const Array& array_of(std::int64_t sample) const {
    const auto behind =
        std::upper_bound(arrays_.begin(), arrays_.end(), sample,
                         [](std::int64_t i, const Array& array) { return i < array.first_sample; });
    return *(behind - 1);
  }

  std::int64_t window_, stride_;  // rows
  bool has_window_;
  std::vector<std::string> roots_;
  std::vector<Array> arrays_;
  std::int64_t samples_ = 0;
};

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_npy(const SourceOptions& options, const SourceContext&) {
  auto source = std::make_unique<source::NpySource>(options);
  source->settle_access();
  return source;
}

}  // namespace loaderscope
