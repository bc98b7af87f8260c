#include "cli/command.h"

namespace loaderscope {

std::span<const Command> command_table() {
  static const Command data_parts[] = {
      {{"make", "Make images that have the statistics of photographs, or tokens, in a folder."},
       declare_data_make,
       {},
       false,
       true},
      {{"info",
        "Say what is in a data set (counts, sizes, formats, damage), or in what two differ."},
       declare_data_info,
       {},
       false,
       true},
      {{"pack", "Pack images into shards that are read one after another."},
       declare_data_pack,
       {},
       false,
       true},
  };
  static const Command probe_parts[] = {
      {{"link", "How fast a GPU gets its data, by memory mode, size and copy mode."},
       declare_probe_link},
  };
  static const Command ci_parts[] = {
      {{"init", "Write the workflow of a gate for pull requests, and what it compares."},
       declare_ci_init},
  };
  static const Command commands[] = {
      {{"run", "Run one configuration and say what the device waited for."},
       declare_run,
       {},
       true,
       true},
      {{"sweep", "Measure a grid of settings: a table, the best, and the cheapest as good as it."},
       declare_sweep,
       {},
       true,
       true},
      {{"tune", "Find the cheapest setting that is as good as the best, by running few."},
       declare_tune,
       {},
       true,
       true},
      {{"compare",
        "Whether one of two flags, commits or binaries is slower, in which stage, and if it "
        "matters."},
       declare_compare,
       {},
       true,
       true},
      {{"ci", "A gate for pull requests in the current repository."}, nullptr, ci_parts},
      {{"what-if", "Predict a run with other settings, from a saved result or declared costs."},
       declare_what_if,
       {},
       false,
       true},
      {{"selftest", "Inject known delays on this machine and say whether they are found."},
       declare_selftest,
       {},
       false,
       true},
      {{"report", "Show a saved result, also in another form."}, declare_report},
      {{"data", "Make a data set, look at one, or pack it into shards."}, nullptr, data_parts},
      {{"probe", "What this machine can do."}, nullptr, probe_parts},
      {{"watch", "What a running job does, from outside: its limit, against thresholds."},
       declare_watch,
       {},
       true,
       true},
      {{"explain", "What a word of an answer rests on, and when it is wrong."},
       declare_explain,
       {},
       false,
       false,
       known_words},
      {{"list", "Every row of every family, and why one is not available here."},
       declare_list,
       {},
       false,
       false,
       family_names},
      {{"completion", "The script by which a shell completes command lines."}, declare_completion},
      {{"help", "The manual, by topic, or the flags of a command."}, declare_help},
  };
  return commands;
}

}  // namespace loaderscope
