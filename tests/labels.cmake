# Labels of the tests of the real program, by which a call selects tests. `scripts/test` leaves out `torch`, `browser` and
# `packages`: they need more than it installs. A sanitizer runs `unit`, `fuzz` and `sanitized`: those whose program has
# threads, processes, memory that they share, or damaged input.

# Filters of GoogleTest, each with the labels of its tests, which are one word with dots: gtest_discover_tests takes no list.
# A test belongs to the first group that fits.
set(LOADERSCOPE_GROUPS torch browser python_and_mpi packages sanitized)
set(tests_torch "*Torch*")
set(labels_torch torch)
set(tests_browser "*InABrowser*")
set(labels_browser browser)
set(tests_python_and_mpi "PySpy.*:Launchers/Mpi.*")
set(labels_python_and_mpi packages)
set(tests_packages "ServersCli.*:WebServerCli.*:FormatsCli.*:Formats/*:MpiLibrary.*:*PerfettoFile.*")
set(labels_packages packages)
set(tests_sanitized "BadData.*:Kinds/BadSample.*:Shortage.*:Stuck.*:DeepJson.*:DataInfo.*:DataMake.Makes*:DataPack.Makes*")
string(APPEND tests_sanitized ":Interrupt.*:Signals/Interrupted.*:Processes.*:Executors/Bind.*:StreamCli.*:HangUp.*")
string(APPEND tests_sanitized ":JobOfProcesses.Gives*:JobOfProcesses.Ends*:JobOfProcesses.Books*:LateLink.*:Watch.*:Nvtx.Names*")
string(APPEND tests_sanitized ":Nvtx.RecordsWork*:Selftest.Finds*:Probe.SavesQuick*:Diagnose.Saves*:Report.ReportsDamaged*")
string(APPEND tests_sanitized ":SweepCommand.PutsTheBest*:TuneCommand.SavesTheAnswer:WhatIf.Predicts*:Plan.SavesPlan*")
string(APPEND tests_sanitized ":ForeignLoader.*:ProveFlag.MeasuresAdvised*:Compare.ComparesTwo*:Page.SavesAndReplaces*")
set(labels_sanitized sanitized)

# Tests of the program NAME, which all have LABEL too.
function(loaderscope_discover_groups name label environment)
  set(before "")
  foreach(group ${LOADERSCOPE_GROUPS})
    loaderscope_discover(${name} ${label}.${labels_${group}} "${environment}" "${tests_${group}}-${before}")
    string(APPEND before ":${tests_${group}}")
  endforeach()
  loaderscope_discover(${name} ${label} "${environment}" "*-${before}")
endfunction()

function(loaderscope_discover name label environment filter)
  set(cost 1)
  if(label MATCHES torch)
    set(cost 10)  # seconds, most for the import of PyTorch
  endif()
  gtest_discover_tests(${name}
    TEST_FILTER "${filter}" DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 300
    PROPERTIES ENVIRONMENT ${environment} LABELS ${label} TIMEOUT 300 COST ${cost})
endfunction()
