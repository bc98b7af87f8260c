// Tables over several files. A layout for each file has the places of its groups of rows, and in
// them the values of one column.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/errors.h"
#include "source/access.h"
#include "source/named_files.h"
#include "source/parallel.h"
#include "source/store.h"
#include "source/table_columns.h"

namespace loaderscope::source {

// Samples in groups that are read, and perhaps unpacked, as a whole.
struct SampleGroup {
  std::int64_t object = 0, number = 0;  // `number` is the index within the object
  std::int64_t first_sample = 0, samples = 0;
  Bytes begin = 0, length = 0;  // bytes to read, in the object
};

const SampleGroup& find_group(const std::vector<SampleGroup>& groups, std::int64_t sample);

// Contents of a group. Each reader has one.
class GroupDecoder {
 public:
  virtual ~GroupDecoder() = default;
  // Opens a group by its index. `bytes` must stay valid until the next call. Throws SampleError.
  virtual void open(std::span<const std::byte> bytes, std::size_t group) = 0;
  // Returns a sample of the group, or nothing if it is missing. Valid until the next call. Throws
  // SampleError.
  virtual std::optional<std::span<const std::byte>> value(std::int64_t place,
                                                          SubstageListener& stages) = 0;
};

// Reads a group at the first of its samples, and holds it until another group is needed. `stored`
// returns the group of a sample. The groups and the access outlive the reader.
std::unique_ptr<SampleReader> make_group_reader(std::unique_ptr<SampleReader> stored,
                                                const std::vector<SampleGroup>& groups,
                                                const Access& access,
                                                std::unique_ptr<GroupDecoder> decoder);

struct TableFile {
  std::string path;
  std::uint64_t stamp = 0;  // see Objects
};

template <class Layout>
struct Tables {
  std::vector<TableFile> files;
  std::vector<Layout> layouts;  // one a file
};

// Chosen column of the files, from the options.
struct TableWords {
  explicit TableWords(const SourceOptions& options)
      : column(text_parameter(options.words, options.classes ? "label" : "column")),
        choose(options.classes ? choose_class_column : choose_image_column) {}
  std::string column;
  ChooseColumn choose;
};

// `read` returns the layout of a StoredObject. Throws RunError.
template <class Layout, class Read>
Tables<Layout> open_tables(const std::vector<std::string>& paths, const std::string& doing,
                           const SourceContext& context, const Read& read) {
  Tables<Layout> tables{std::vector<TableFile>(paths.size()), std::vector<Layout>(paths.size())};
  for_each_index(std::ssize(paths), doing, context, [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    const std::string& path = paths[place];
    try {
      const std::unique_ptr<StoredObject> file = find_store(path).open(path);
      tables.files[place] = {path, file->stamp().inode};
      tables.layouts[place] = read(*file);
    } catch (const ValueError& error) {
      throw add_place<RunError>(shown_text(path) + ": ", error);
    } catch (const SampleError& error) {
      throw add_place<RunError>(shown_text(path) + ": ", error);
    }
  });
  return tables;
}

class TableSource : public ExtentSource {
 public:
  std::int64_t size() const override { return rows_; }
  std::string describe(std::int64_t sample) const override;
  Bytes bytes_read_ahead() const override;

  std::int64_t objects() const override { return std::ssize(files_); }
  // Extent of the group that holds the sample.
  Extent extent(std::int64_t sample) const override;
  void get_path(std::int64_t object, std::string& path) const override;
  std::vector<std::string> roots() const override { return roots_; }
  std::uint64_t version_stamp(std::int64_t object) const override;

 protected:
  // `group` is the name of a group in messages, "row group".
  TableSource(const SourceOptions& options, std::vector<TableFile> files, std::string_view group);

  // Returns the row of a sample.
  virtual std::int64_t row_index(std::int64_t sample) const { return sample; }
  const SampleGroup& group_with(std::int64_t sample) const {
    return find_group(groups_, row_index(sample));
  }
  const std::vector<SampleGroup>& groups() const { return groups_; }
  std::string shown_file(std::size_t number) const { return shown_text(files_[number].path); }
  std::int64_t rows() const { return rows_; }

  // Bytes of a group that a reader holds at once. 0 if values are read one by one.
  struct Held {
    Bytes stored = 0, unpacked = 0;
  };
  // Adds a group after the existing ones, and sets its first sample.
  void add_group(SampleGroup group, Held held);
  // Throws RunError if these bytes of a group exceed the limit for one read.
  void refuse_larger(const SampleGroup& group, Bytes bytes, const std::string& remedy) const;
  void check_groups() const;  // throws RunError without groups

 private:
  std::vector<std::string> roots_;
  std::vector<TableFile> files_;
  std::string_view called_;
  Bytes largest_sample_;
  std::vector<SampleGroup> groups_;
  std::int64_t rows_ = 0;
  Held largest_;
};

}  // namespace loaderscope::source
