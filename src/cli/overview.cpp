#include "cli/overview.h"

namespace loaderscope {

const std::string_view kOverview =
    R"(loaderscope finds out why a GPU waits for its data, and what to change.

Start here
  loaderscope run -- python train.py      why does my GPU wait?
  loaderscope tune -- python train.py     how many workers do I need?
  loaderscope demo                        ten seconds, no data or GPU needed

Measure
  run         a training program, or the built-in loader
  watch       a job that is already running
  diagnose    a trace of nsys, torch.profiler or py-spy
  probe       this machine: storage, decoding, memory, links

Choose
  tune        find the smallest settings that are as fast as the best
  sweep       measure a grid of settings
  what-if     predict a run with other settings
  plan        predict a job of many ranks and hosts

Guard
  compare     find out whether a change makes loading slower
  ci          write the workflow that does this for pull requests
  selftest    check that known delays are found on this machine

Show
  report      show a saved result in another form
  merge       combine the results of several hosts
  explain     explain a word of an answer
  list        list formats, devices, findings and other families

Prepare
  data        make, pack or describe a data set

Flags: loaderscope COMMAND --help     Guides: loaderscope help
)";

const std::string_view kRunHelp = R"(Measure one configuration and say what the GPU waits for.

Examples
  loaderscope run -- python train.py              your program, unedited
  loaderscope run --steps 200 -- torchrun --nproc-per-node 8 train.py
  loaderscope run --data photos --compute 36ms    the built-in loader
  loaderscope run --data photos --device null     the loader alone

What to measure
  -- PROGRAM ...           a training program; its DataLoader is found
  --loader FILE.py:NAME    a function that makes a loader
  --data [FORMAT:]PATH     a data set for the built-in loader; repeatable
  --scenario FILE          settings from a file; flags override them

Loader
  --num-workers N          workers per rank (one per usable core)
  --prefetch-factor N      batches in flight per worker (2)
  --batch-size N           samples per batch (64)
  --pin-memory             copy batches into page-locked memory
  --persistent-workers     keep the workers between epochs
  --shuffle                read the data in a new order each epoch
  --drop-last              leave out a short last batch

Trainer
  --compute TIME           time of a step on the device, such as 36ms
  --demand RATE            samples per second that the training needs
  --device NAME            cuda, sim or null (cuda if there is a GPU)
  --ranks N                trainers on this machine (1)

Measurement
  --duration TIME          length of the window (10s)
  --steps N                length of the window in steps
  --warmup N|TIME          steps or time before the window (5)
  --cache STATE            page cache at the start: as-is, warm, cold (as-is)

Answer
  --try                    test the Fix in short runs
  --prove                  test the verdict in short runs
  --json FILE              save the result
  --html FILE              save a page with pictures
  --require CONDITION      exit with 2 unless it holds; repeatable
  -v, -vv                  print more, print everything

All flags: loaderscope run --help-all
Guides: loaderscope help workers, loaderscope help gpu-utilisation
)";

}  // namespace loaderscope
