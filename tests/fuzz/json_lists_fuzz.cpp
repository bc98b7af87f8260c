// Lists of shards in JSON, as WebDataset, streaming, LitData and Hugging Face write them, and the
// stacks that py-spy prints: they are refused in one line, or opened.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/private_folder.h"
#include "loaderscope/errors.h"
#include "source/registry.h"
#include "watch/hang_lines.h"

namespace {

using namespace loaderscope;

void open_as(std::string_view source, const std::string& path) {
  const SourceRow& row = source_row(source);
  if (row.open == nullptr) return;
  SourceOptions options;
  options.paths = {path};
  options.use_index_cache = false;
  try {
    row.open(options, {});
  } catch (const RunError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
}

// A fuzzer is to ask no server, and to open no file of this machine.
bool leaves_the_folder(std::string_view text) {
  return text.find("://") != text.npos || text.find("\"/") != text.npos ||
         text.find("..") != text.npos || text.find("\\u") != text.npos ||
         text.find("\\/") != text.npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const PrivateFolder folder(std::filesystem::temp_directory_path().string(),
                                    "loaderscope-fuzz-");
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (leaves_the_folder(text)) return 0;
  for (const char* name : {"list.json", "index.json", "state.json"})
    std::ofstream(folder.path() + "/" + name, std::ios::binary) << text;
  open_as("tar", folder.path() + "/list.json");
  for (const char* source : {"mds", "litdata", "arrow"}) open_as(source, folder.path());
  watch::parse_python_look(text, 7);
  return 0;
}
