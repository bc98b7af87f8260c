// loaderscope ci init
#include <CLI/CLI.hpp>

#include <array>
#include <filesystem>
#include <memory>

#include "cli/ci_files.h"
#include "cli/command.h"
#include "cli/output.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

struct CiFlags {
  std::string loader;
  bool gitlab = false, shell = false, force = false;
};

struct Target {
  std::string_view file, path;
};
constexpr std::array<Target, 5> kTargets = {{
    {"gate.yml", ".github/workflows/loaderscope.yml"},
    {"comment.yml", ".github/workflows/loaderscope-comment.yml"},
    {"action.yml", ".github/actions/loaderscope/action.yml"},
    {"ci.conf", ".loaderscope/ci.conf"},
    {"accepted.conf", ".loaderscope/accepted.conf"},
}};

constexpr const char* kNext =
    "Next:\n"
    "  1. .loaderscope/ci.conf: say what is compared, and how long it may take\n"
    "  2. loaderscope compare --scenario .loaderscope/ci.conf --ref-a origin/main: try it here\n"
    "  3. .github/actions/loaderscope/action.yml: set the defaults of tarball and sha256\n"
    "  4. commit the files; the comment works once they are on the default branch\n"
    "A pull request with the label loader-slower-ok may be slower; what is to stay so is a line "
    "in\n"
    ".loaderscope/accepted.conf. See 'loaderscope help gate'.\n";

std::string file_text(std::string_view name) {
  for (const EmbeddedFile& file : ci_files()) {
    if (file.name == name) return std::string(file.content);
  }
  throw std::logic_error("src/cli/ci has no " + std::string(name));
}

std::string with_loader(std::string text, const std::string& loader) {
  constexpr std::string_view kLine = "\nloader = ";
  if (loader.empty()) return text;
  if (loader.find_first_of("\r\n") != loader.npos)
    throw UsageError("--loader " + shown_text(loader) + ": expected FILE.py:FUNCTION",
                     "give a file and a function of it, such as train.py:make_loader");
  const std::size_t begin = text.find(kLine) + kLine.size();
  return text.replace(begin, text.find('\n', begin) - begin, loader);
}

void check_targets(bool force) {
  std::error_code error;
  if (!fs::exists(".git", error))
    throw RunError("ci init: the current folder is not the top of a git repository", "go there");
  for (const Target& target : kTargets) {
    const std::string path(target.path);
    if (!force && fs::exists(path, error))
      throw RunError(path + ": is there already", "edit it, or replace all of them with --force");
  }
}

void write_target(const Target& target, const CiFlags& flags) {
  const std::string path(target.path);
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) throw RunError(path + ": its folder cannot be made (" + error.message() + ")");
  const std::string text = target.file == "ci.conf"
                               ? with_loader(file_text(target.file), flags.loader)
                               : file_text(target.file);
  write_output(path, [&](std::ostream& out) { out << text; });
}

ExitCode print_file(std::string_view name) {
  write_output("-", [&](std::ostream& out) { out << file_text(name); });
  return ExitCode::ok;
}

ExitCode init(const CiFlags& flags) {
  if (flags.gitlab && flags.shell)
    throw UsageError("--gitlab: prints one file, --shell another", "give one of them");
  if (flags.gitlab) return print_file("gitlab.yml");
  if (flags.shell) return print_file("shell.sh");
  check_targets(flags.force);
  with_loader(file_text("ci.conf"), flags.loader);  // refuses before anything is written
  for (const Target& target : kTargets) write_target(target, flags);
  write_output("-", [&](std::ostream& out) {
    out << "Wrote";
    for (const Target& target : kTargets) out << ' ' << target.path;
    out << '\n' << kNext;
  });
  return ExitCode::ok;
}

}  // namespace

Action declare_ci_init(CLI::App& app) {
  const auto flags = std::make_shared<CiFlags>();
  app.add_option("--loader", flags->loader, "The function that makes the loader.")
      ->type_name("FILE.py:FUNCTION")
      ->take_last();
  app.add_flag("--gitlab", flags->gitlab, "Print a job for .gitlab-ci.yml instead.");
  app.add_flag("--shell", flags->shell, "Print a shell script instead.");
  app.add_flag("--force", flags->force, "Replace files that are there.");
  return [flags] { return init(*flags); };
}

}  // namespace loaderscope
