// Tables over several files: of each a layout says where its groups of rows lie, and in them the
// values of one column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/errors.h"
#include "source/access.h"
#include "source/group_reader.h"
#include "source/named_files.h"
#include "source/parallel.h"
#include "source/store.h"
#include "source/table_columns.h"

namespace loaderscope::source {

struct TableFile {
  std::string path;
  std::uint64_t stamp = 0;  // see Objects
};

template <class Layout>
struct Tables {
  std::vector<TableFile> files;
  std::vector<Layout> layouts;  // one a file
};

// Which column of which files, as the options say it.
struct TableWords {
  explicit TableWords(const SourceOptions& options)
      : column(text_parameter(options.words, options.classes ? "label" : "column")),
        choose(options.classes ? choose_class_column : choose_image_column) {}
  std::string column;
  ChooseColumn choose;
};

// `read` gives the layout of a StoredObject. Throws RunError.
template <class Layout, class Read>
Tables<Layout> open_tables(const std::vector<std::string>& paths, const std::string& doing,
                           const SourceContext& context, const Read& read) {
  Tables<Layout> tables{std::vector<TableFile>(paths.size()), std::vector<Layout>(paths.size())};
  for_each_index(std::ssize(paths), doing, context, [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    const std::string& path = paths[place];
    try {
      const std::unique_ptr<StoredObject> file = store_of(path).open(path);
      tables.files[place] = {path, file->stamp().inode};
      tables.layouts[place] = read(*file);
    } catch (const ValueError& error) {
      throw RunError(shown_text(path) + ": " + error.what());
    } catch (const SampleError& error) {
      throw RunError(shown_text(path) + ": " + error.what());
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
  // Of the group that holds it.
  Extent extent(std::int64_t sample) const override;
  void path_of(std::int64_t object, std::string& path) const override;
  std::vector<std::string> roots() const override { return roots_; }
  std::uint64_t version_stamp(std::int64_t object) const override;

 protected:
  // `group`: what it is called, "row group".
  TableSource(const SourceOptions& options, std::vector<TableFile> files, std::string_view group);

  // Which row a sample is.
  virtual std::int64_t row_of(std::int64_t sample) const { return sample; }
  const SampleGroup& group_with(std::int64_t sample) const {
    return group_of(groups_, row_of(sample));
  }
  const std::vector<SampleGroup>& groups() const { return groups_; }
  std::string shown_file(std::size_t number) const { return shown_text(files_[number].path); }
  std::int64_t rows() const { return rows_; }

  // What a reader has of a group at once; nothing of one whose values are read one by one.
  struct Held {
    Bytes stored = 0, unpacked = 0;
  };
  // Its first sample follows from those that are there.
  void add_group(SampleGroup group, Held held);
  // Throws RunError where these bytes of a group are more than are read at once.
  void refuse_larger(const SampleGroup& group, Bytes bytes, const std::string& remedy) const;
  void check_groups() const;  // throws RunError where there are none

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
