// The families of sources: where samples come from, and how files are read.
#pragma once

#include <memory>
#include <span>

#include "loaderscope/rows.h"
#include "loaderscope/source.h"
#include "loaderscope/vocabulary.h"
#include "source/kernel_access.h"

namespace loaderscope {

namespace source {
class FileSource;
}

struct SourceRow {
  Row row;
};

std::span<const SourceRow> source_table();

struct AccessRow {
  Row row;
  FileAccess access;
  // Why this kernel refuses, whatever the data; null: none does.
  std::optional<std::string> (source::KernelAccess::*refusal)() const;
  bool direct;  // some file systems refuse
  std::unique_ptr<SampleReader> (*make)(const source::FileSource& source);
};

std::span<const AccessRow> access_table();
const AccessRow& access_row(FileAccess access);

}  // namespace loaderscope
