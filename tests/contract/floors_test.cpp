// Checks the layers of the source folders: a folder includes only headers of lower floors, never of
// its own floor or of a higher one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

// A folder of src/ and, in the order of the floors, what of include/loaderscope it implements.
struct Folder {
  std::string_view name;
  std::string_view headers;
};

// The lowest floor first. Folders of one line do not know each other.
const std::vector<std::vector<Folder>>& floors() {
  static const std::vector<std::vector<Folder>> kFloors = {
      {{"base", "units vocabulary metrics errors rows cost"}},
      {{"nvtx", ""}},
      {{"record", "events step_rows run_config run_record"}},
      {{"analysis", "analysis findings"},
       {"machine", ""},
       {"rendezvous", ""},
       {"source", "source"},
       {"decode", "decode"}},
      {{"augment", "augment"}, {"monitor", ""}},
      {{"device", "device"}, {"dataset", ""}},
      {{"settings", "settings"}},
      {{"engine/pipeline", "engine"}, {"guest/protocol", ""}},
      {{"hang", ""}},
      {{"engine/native", ""},
       {"engine/model", ""},
       {"engine/import", ""},
       {"guest/host", ""},
       {"guest/library", ""}},
      {{"engine", ""}},
      {{"predict", "predict"}},
      {{"experiment", "experiment"}, {"probe", ""}, {"watch", ""}},
      {{"page", ""}, {"manual", ""}},
      {{"report", "report"}},
      {{"job", ""}},
      {{"cli", ""}},
      {{"", ""}},  // src/main.cpp
  };
  return kFloors;
}

// The library of a folder. Subfolders of these folders belong to the library of their parent.
std::string library_name(const std::string& folder) {
  for (const std::string library :
       {"source", "device", "analysis", "experiment", "guest/host", "report"}) {
    if (folder.starts_with(library + '/')) return library;
  }
  return folder;
}

bool has_word(std::string_view words, std::string_view word) {
  return (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

struct Place {
  std::string folder;
  std::size_t floor;
};

// The floor of a path below src/ or include/. Empty for a path without a floor.
std::optional<Place> find_place(const fs::path& path) {
  const bool is_contract = path.parent_path() == "loaderscope";
  const std::string folder = library_name(path.parent_path().string());
  for (std::size_t floor = 0; floor < floors().size(); ++floor) {
    for (const Folder& one : floors()[floor]) {
      if (is_contract ? has_word(one.headers, path.stem().string()) : one.name == folder)
        return Place{std::string(one.name), floor};
    }
  }
  return std::nullopt;
}

std::vector<std::string> read_includes(const fs::path& file) {
  constexpr std::string_view kInclude = "#include \"";
  std::vector<std::string> found;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(kInclude))
      found.push_back(line.substr(kInclude.size(), line.rfind('"') - kInclude.size()));
  }
  return found;
}

// The includes of `file`, at `path` below its root, that go up or sideways.
std::vector<std::string> wrong_includes(const fs::path& file, const fs::path& path) {
  const std::optional<Place> place = find_place(path);
  if (!place) return {"stands on no floor; give it a place in tests/contract/floors_test.cpp"};
  std::vector<std::string> wrong;
  for (const std::string& include : read_includes(file)) {
    if (include == "version.h" || include == "built_with.h") continue;  // made by the build
    const std::optional<Place> other = find_place(include);
    if (!other) {
      wrong.push_back(include + " stands on no floor");
    } else if (path.parent_path() == "loaderscope" && !include.starts_with("loaderscope/")) {
      wrong.push_back(include + " is private");
    } else if (other->folder != place->folder && other->floor >= place->floor) {
      wrong.push_back(include + (other->floor == place->floor ? " is beside it" : " is above it"));
    }
  }
  return wrong;
}

TEST(Floors, IncludesOnlyLowerFloors) {
  std::size_t files = 0;
  for (const char* root : {"src", "include"}) {
    const fs::path top = fs::path(LOADERSCOPE_SOURCE_DIR) / root;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top)) {
      const std::string kind = entry.path().extension();
      if (kind != ".h" && kind != ".cpp" && kind != ".cu") continue;
      ++files;
      const fs::path path = fs::relative(entry.path(), top);
      for (const std::string& wrong : wrong_includes(entry.path(), path))
        ADD_FAILURE() << root << '/' << path.string() << ": " << wrong;
    }
  }
  EXPECT_GT(files, 100U);  // the search found the sources
}

TEST(Floors, ReportsIncludesThatGoUpOrSideways) {
  EXPECT_GT(find_place("cli/run.cpp")->floor, find_place("report/text_table.h")->floor);
  EXPECT_EQ(find_place("source/walk.h")->floor, find_place("decode/decoders.h")->floor);
  EXPECT_EQ(find_place("analysis/findings/finding_input.h")->folder, "analysis");
  EXPECT_EQ(find_place("guest/host/wrong_data/data_checks.h")->folder, "guest/host");
  EXPECT_EQ(find_place("loaderscope/units.h")->folder, "base");
  EXPECT_FALSE(find_place("attic/old.h"));
  const fs::path file = fs::temp_directory_path() / ("floors-" + std::to_string(::getpid()) + ".h");
  std::ofstream(file) << "#include \"report/keys.h\"\n#include \"source/walk.h\"\n"
                         "#include \"base/fd.h\"\n#include <string>\n";
  EXPECT_EQ(wrong_includes(file, "decode/decoders.h"),
            (std::vector<std::string>{"report/keys.h is above it", "source/walk.h is beside it"}));
  fs::remove(file);
}

}  // namespace
}  // namespace loaderscope
