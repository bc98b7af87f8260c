// loaderscope apply
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/printable.h"
#include "cli/command.h"
#include "cli/fix_edit.h"
#include "cli/saved_result.h"
#include "report/output_file.h"
#include "settings/flag_words.h"

namespace loaderscope {
namespace {

struct ApplyFlags {
  std::string result = "last", python, json;
  bool write = false, yes = false;
};

void check_flags(const ApplyFlags& flags) {
  if (flags.json == "-" && flags.write)
    throw UsageError("--json -: prints the plan alone", "leave out --write, or name a file");
  if (flags.yes && !flags.write) throw UsageError("--yes: needs --write", "apply --write --yes");
  const bool can_ask = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  if (flags.write && !flags.yes && !can_ask)
    throw UsageError("--write: there is no terminal to ask at", "write without asking: --yes");
}

// Control characters of the file do not reach a terminal.
void print_diff(std::ostream& out, const std::string& diff) {
  if (::isatty(STDOUT_FILENO) == 0) {
    out << diff;
    return;
  }
  std::string_view text = diff;
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (const std::string_view line : split(text, '\n')) {
    std::string shown;
    for (const std::string_view part : split(line, '\t'))
      shown += (part.data() == line.data() ? "" : "\t") + printable(part);
    out << shown << "\n";
  }
}

bool is_agreed(const ApplyFlags& flags, const FixEdit& edit) {
  if (flags.yes) return true;
  std::fputs(fmt::format("loaderscope: change {}? [y/N] ", shown_text(edit.shown)).c_str(), stderr);
  return is_answered_with_yes();
}

[[noreturn]] void refuse(const FixEdit& edit) {
  const std::string place = edit.place();
  const bool is_about_file = !place.empty() && edit.arguments.missing.empty();
  const std::string hint = (place.empty() ? "" : place + "  ") + edit.hand_text();
  const bool is_argument = edit.arguments.missing.empty() || !place.empty();
  throw RunError((is_about_file ? place + ": " : "apply: ") + edit.reason,
                 (is_argument ? "change it by hand: " : "the Fix is: ") + hint);
}

ExitCode apply(const ApplyFlags& flags) {
  check_flags(flags);
  if (!flags.json.empty()) check_output(flags.json, {false, {flags.result}});
  const FixEdit edit = plan_fix_edit(flags.result, flags.python);
  if (!flags.json.empty())
    write_output(flags.json, [&](std::ostream& out) { write_json(out, edit); });
  if (flags.json == "-") return ExitCode::ok;
  StandardOutput out;
  if (edit.fix.empty()) {
    out.stream() << "Nothing to apply: " << edit.verdict << "\n";
    return out.finish();
  }
  if (edit.unchanged) {
    out.stream() << "Nothing to apply: " << edit.place() << " has " << edit.arguments.text()
                 << " already\n";
    return out.finish();
  }
  if (!edit.can_write()) refuse(edit);
  print_diff(out.stream(), edit.diff);
  out.stream().flush();
  if (!flags.write) {
    std::fputs("loaderscope: nothing is changed yet; --write changes the file\n", stderr);
    return out.finish();
  }
  if (!is_agreed(flags, edit)) {
    std::fputs("loaderscope: nothing is changed\n", stderr);
    return out.finish();
  }
  write_fix_edit(edit);
  std::fputs(fmt::format("loaderscope: changed {}\n"
                         "Check it: loaderscope run --against {} -- {}\n",
                         edit.place(), quoted(flags.result), edit.command)
                 .c_str(),
             stderr);
  return out.finish();
}

}  // namespace

Action declare_apply(CLI::App& app) {
  const auto flags = std::make_shared<ApplyFlags>();
  app.add_option("RESULT", flags->result,
                 "The result of a run, whose Fix is applied. Default: last, the last run.");
  app.add_flag("--write", flags->write, "Change the file, after a question.");
  app.add_flag("--yes", flags->yes, "Change the file without a question.");
  app.add_option("--json", flags->json, "Save the plan as JSON. - prints only that.")
      ->type_name("FILE")
      ->take_last();
  app.add_option("--python", flags->python,
                 "Parse the file with this interpreter. Default: the one of the last run, else "
                 "python3.")
      ->type_name("FILE")
      ->take_last();
  return [flags] { return apply(*flags); };
}

}  // namespace loaderscope
