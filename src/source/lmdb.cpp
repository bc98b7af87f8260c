// LMDB files as a source.
#include "source/lmdb.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "loaderscope/errors.h"
#include "source/access.h"
#include "source/index.h"
#include "source/index_cache.h"
#include "source/lmdb_file.h"
#include "source/named_files.h"
#include "source/readers.h"
#include "source/walk.h"

namespace loaderscope::source {
namespace {

namespace fs = std::filesystem;
using Kind = SampleError::Kind;

// Raised whenever the same keys would be listed in another way.
constexpr std::string_view kKeyRules = "1";

// Returns the file that LMDB keeps in a folder, or the files that were written next to each other.
std::vector<std::string> data_files(const std::string& path) {
  std::error_code ignored;
  const std::string inner = join_path(path, "data.mdb");
  if (fs::is_regular_file(path, ignored)) return {path};
  if (fs::is_regular_file(inner, ignored)) return {inner};
  try {
    return named_files({path}, kLmdbSuffixes);
  } catch (const RunError&) {
    throw RunError(shown_text(path) + ": is no LMDB file, nor a folder that holds data.mdb",
                   "check the path given with --data");
  }
}

struct LmdbPlan {
  std::vector<std::string> files;
  std::string pattern;  // pattern of keys; "": all except those that begin with "__"
  std::string value;    // parameter `value`; "": the first value decides
  bool holds_datums = false;
  bool classes = false;  // delivers the labels of datums
};

Index index_keys(const LmdbPlan& plan, std::string_view identity, const SourceContext& context) {
  IndexBuilder builder;
  for (std::uint32_t i = 0; i < plan.files.size(); ++i) {
    const std::string& path = plan.files[i];
    struct stat facts {};
    ::stat(path.c_str(), &facts);
    const std::uint32_t file = builder.add_folder({i, "", 0, version_stamp(facts)});
    try {
      LmdbFile(path).for_each_key([&](std::string_view key) {
        const bool takes =
            plan.pattern.empty() ? !key.starts_with("__") : fits_key(plan.pattern, key);
        if (takes) builder.add(file, key);
        if (builder.samples() % 65536 == 0) context.throw_if_stopped();
      });
    } catch (const ValueError& error) {
      throw add_place<RunError>(shown_text(path) + ": ", error);
    }
  }
  if (builder.samples() == 0) {
    throw RunError(
        fmt::format("{}: has no key{}", shown_text(plan.files.front()),
                    plan.pattern.empty() ? "" : " of the form " + shown_text(plan.pattern)));
  }
  return builder.finish(identity);
}

class LmdbReader final : public SampleReader {
 public:
  LmdbReader(const LmdbPlan& plan, const Index& index, Bytes largest, const ReadCounts& counts)
      : plan_(plan), index_(index), largest_(largest), counts_(counts) {}

  std::span<const std::byte> read(std::int64_t sample) override {
    const auto file = static_cast<std::size_t>(index_.file(sample, key_));
    try {
      const LmdbFile& opened = open_file(file);
      const auto value = opened.value_of(key_);
      if (!value) throw SampleError(Kind::unreadable, "its key is gone since the keys were listed");
      return image_bytes(opened, *value);
    } catch (const ValueError& error) {
      throw SampleError(Kind::damaged, error.what());
    }
  }

 private:
  std::span<const std::byte> image_bytes(const LmdbFile& from, std::string_view value) {
    if (value.empty()) throw SampleError(Kind::truncated, "is empty");
    if (std::ssize(value) > largest_) {
      throw SampleError(Kind::too_large,
                        fmt::format("has {} bytes, more than the {} that a sample may have",
                                    value.size(), largest_));
    }
    const std::span<std::byte> copy = copy_.take(value.size());
    if (!from.copy(value, copy))
      throw SampleError(Kind::truncated, "its file shrank while it was read");
    counts_.count_request(std::ssize(value));
    const std::span<const std::byte> image = image_part(copy);
    counts_.count_sample(std::ssize(image));
    return image;
  }

  std::span<const std::byte> image_part(std::span<const std::byte> value) {
    if (!plan_.holds_datums) return value;
    if (!plan_.classes) return image_of_datum(value, pixels_);
    class_ = class_of_datum(value);
    return std::as_bytes(std::span(class_));
  }

  // Opened at the first of its samples, by the process that reads it.
  LmdbFile& open_file(std::size_t file) {
    if (open_.size() <= file) open_.resize(plan_.files.size());
    if (!open_[file]) {
      open_[file] = std::make_unique<LmdbFile>(plan_.files[file]);
      counts_.count_opened();
    }
    return *open_[file];
  }

  const LmdbPlan& plan_;
  const Index& index_;
  Bytes largest_;
  const ReadCounts& counts_;
  std::vector<std::unique_ptr<LmdbFile>> open_;
  std::string key_;
  SampleBuffer copy_;
  std::vector<std::byte> pixels_;
  std::string class_;
};

class LmdbSource final : public Source, public Objects {
 public:
  LmdbSource(const SourceOptions& options, LmdbPlan plan, Index index)
      : plan_(std::move(plan)), index_(std::move(index)), largest_(options.largest_sample) {
    if (plan_.value.empty() && plan_.holds_datums)
      notes_.emplace_back("the values are Caffe's Datums; value=raw takes them as they are");
    if (options.access == FileAccess::pread || options.access == FileAccess::mmap) return;
    notes_.push_back(fmt::format("--access {} is for files that are read here; LMDB maps its own",
                                 name_of(options.access)));
  }

  std::int64_t size() const override { return index_.samples(); }
  std::string describe(std::int64_t sample) const override {
    std::string key;
    const auto file = static_cast<std::size_t>(index_.file(sample, key));
    return plan_.files[file] + ": " + key;
  }
  std::unique_ptr<SampleReader> make_reader() const override {
    return std::make_unique<LmdbReader>(plan_, index_, largest_, counts_);
  }
  const Objects* stored_objects() const override { return this; }
  std::int64_t objects() const override { return std::ssize(plan_.files); }
  void get_path(std::int64_t object, std::string& path) const override {
    path = plan_.files[static_cast<std::size_t>(object)];
  }
  std::vector<std::string> roots() const override { return plan_.files; }
  std::optional<FileAccess> access() const override { return FileAccess::mmap; }
  std::vector<std::string> notes() const override { return notes_; }
  std::vector<Metric> metrics() const override { return counts_.metrics(); }

 private:
  LmdbPlan plan_;
  Index index_;
  Bytes largest_;
  ReadCounts counts_;
  std::vector<std::string> notes_;
};

// Decides the kind of values by the first one if no parameter does.
void settle_values(LmdbPlan& plan, const Index& index, const SourceOptions& options) {
  plan.holds_datums = plan.value == "datum";
  plan.classes = options.classes;
  if (plan.value.empty()) {
    std::string key;
    const auto file = static_cast<std::size_t>(index.file(0, key));
    try {
      const LmdbFile opened(plan.files[file]);
      const auto value = opened.value_of(key);
      SampleBuffer bytes;
      plan.holds_datums = value && std::ssize(*value) <= options.largest_sample &&
                          opened.copy(*value, bytes.take(value->size())) &&
                          is_datum(bytes.take(value->size()));
    } catch (const ValueError&) {  // the run will name it
    }
  }
  if (plan.classes && !plan.holds_datums)
    throw RunError(shown_text(plan.files.front()) + ": its values are images without classes",
                   "give values that are Datums");
}

LmdbPlan make_plan(const SourceOptions& options) {
  LmdbPlan plan;
  for (const std::string& path : options.paths) {
    for (std::string& file : data_files(path)) plan.files.push_back(std::move(file));
  }
  if (const auto word = options.words.find("key"); word != options.words.end()) {
    plan.pattern = word->second;
    try {
      fits_key(plan.pattern, "");
    } catch (const ValueError& error) {
      throw add_place<UsageError>("data: key=" + shown_text(plan.pattern) + ": ", error);
    }
  }
  plan.value = text_parameter(options.words, "value");
  if (plan.value.empty() || plan.value == "raw" || plan.value == "datum") return plan;
  throw UsageError("data: value=" + shown_text(plan.value) + ": expected raw or datum",
                   "give value=raw for images, value=datum for Caffe's");
}

}  // namespace
}  // namespace loaderscope::source

namespace loaderscope {

std::unique_ptr<Source> open_lmdb(const SourceOptions& options, const SourceContext& context) {
  source::LmdbPlan plan = source::make_plan(options);
  std::string key =
      fmt::format("lmdb {} {}:{}", source::kKeyRules, plan.pattern.size(), plan.pattern);
  for (const std::string& file : plan.files) source::append_path(key, file);
  source::Index index = source::cached_index(options, key, key, plan.files, 0, context, [&] {
                          return source::index_keys(plan, key, context);
                        }).index;
  source::settle_values(plan, index, options);
  return std::make_unique<source::LmdbSource>(options, std::move(plan), std::move(index));
}

}  // namespace loaderscope
